package term

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Spent returns the processor time that the program has used so far. Two readings
// give what a second of it costs. Only Linux tells.
func (t *Term) Spent() (time.Duration, error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", t.Pid()))
	if err != nil || len(tasks) == 0 {
		return 0, fmt.Errorf("processor time of %d: /proc does not tell", t.Pid())
	}
	sum := int64(0)
	for _, task := range tasks {
		stat, err := os.ReadFile(task)
		if err != nil {
			return 0, fmt.Errorf("processor time of %d: %w", t.Pid(), err)
		}
		spent, _, _ := strings.Cut(string(stat), " ")
		ns, err := strconv.ParseInt(spent, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("processor time of %d: %w", t.Pid(), err)
		}
		sum += ns
	}
	return time.Duration(sum), nil
}

var highWater = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// Peak returns the most memory, in bytes, that the program has held at once. Only
// Linux tells.
func (t *Term) Peak() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", t.Pid()))
	if err != nil {
		return 0, fmt.Errorf("memory of %d: %w", t.Pid(), err)
	}
	found := highWater.FindSubmatch(status)
	if found == nil {
		return 0, fmt.Errorf("memory of %d: /proc does not tell", t.Pid())
	}
	kB, err := strconv.ParseInt(string(found[1]), 10, 64)
	return kB << 10, err
}
