package cli

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestReaderWhoStoppedHoldsUpTheWorkButNotItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hurry, reads := make(chan struct{}), make(chan struct{})
		var told, ended atomic.Int32
		tell, more := newTeller(hurry), func() { told.Add(1) }
		tell.tell(more)
		go tell.tell(func() { <-reads })
		synctest.Wait()
		for range 20 {
			go func() {
				tell.tell(more)
				ended.Add(1)
			}()
		}
		time.Sleep(time.Hour)
		if synctest.Wait(); told.Load() != 1 || ended.Load() != 0 {
			t.Errorf("before the end: told %d, and %d did not wait", told.Load(), ended.Load())
		}
		close(hurry)
		time.Sleep(listening)
		if synctest.Wait(); told.Load() != 1 || ended.Load() != 20 {
			t.Errorf("at the end: told %d, and %d did not wait longer", told.Load(), ended.Load())
		}
		began := time.Now()
		if tell.tell(more); time.Since(began) != 0 || told.Load() != 1 {
			t.Errorf("after it: waited %v, told %d", time.Since(began), told.Load())
		}
		close(reads)
	})
}

func TestEndOfTheWorkIsToldToWhoReads(t *testing.T) {
	t.Parallel()
	hurry := make(chan struct{})
	close(hurry)
	told := 0
	tell := newTeller(hurry)
	defer tell.stop()
	for range 1000 {
		tell.tell(func() { told++ })
	}
	if told != 1000 {
		t.Errorf("told %d of 1000", told)
	}
}
