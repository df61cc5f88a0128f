package alert

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func TestAFigureThatSwingsAroundItsLimitRaisesOneAlert(t *testing.T) {
	t.Parallel()
	a := Alarm{Limits: Limits{Dead: 10}}
	raised := 0
	for second := range 600 {
		fresh, over := a.Take(Figures{Dead: {Value: float64(10 + second%2)}}, noon.Add(time.Duration(second)*time.Second))
		raised += len(fresh)
		if len(over) > 0 {
			t.Fatalf("over after %d s: %v", second, over)
		}
	}
	if raised != 1 || len(a.Alerts()) != 1 || !a.Alerts()[0].Since.Equal(noon.Add(time.Second)) {
		t.Errorf("raised %d, standing %v", raised, a.Alerts())
	}
}

func TestAnAlertIsOverOnceItsLimitIsKeptForLong(t *testing.T) {
	t.Parallel()
	a := Alarm{Limits: Limits{Dead: 10}}
	at := func(after time.Duration, dead float64) (int, int, string) {
		fresh, over := a.Take(Figures{Dead: {Value: dead}}, noon.Add(after))
		said := ""
		if len(a.Alerts()) > 0 {
			said = a.Alerts()[0].Says()
		}
		return len(fresh), len(over), said
	}
	for _, step := range []struct {
		after       time.Duration
		dead        float64
		fresh, over int
		said        string
	}{
		{0, 10, 0, 0, ""},
		{time.Second, 11, 1, 0, "11 dead letters, more than 10"},
		{2 * time.Second, 41, 0, 0, "41 dead letters, more than 10"},
		{3 * time.Second, 9, 0, 0, "9 dead letters, no more than 10 again"},
		{20 * time.Second, 12, 0, 0, "12 dead letters, more than 10"},
		{21 * time.Second, 8, 0, 0, "8 dead letters, no more than 10 again"},
		{21*time.Second + Hold - 1, 8, 0, 0, "8 dead letters, no more than 10 again"},
		{21*time.Second + Hold, 7, 0, 1, ""},
		{22*time.Second + Hold, 11, 1, 0, "11 dead letters, more than 10"},
	} {
		if fresh, over, said := at(step.after, step.dead); fresh != step.fresh || over != step.over || said != step.said {
			t.Errorf("after %v with %v: %d new, %d over, %q; want %+v", step.after, step.dead, fresh, over, said, step)
		}
	}
}

func TestAnAlertStandsWhileItsFigureIsNotKnown(t *testing.T) {
	t.Parallel()
	a := Alarm{Limits: Limits{Dead: 10}}
	a.Take(Figures{Dead: {Value: 41}}, noon)
	a.Take(Figures{Dead: {Value: 5}}, noon.Add(time.Second))
	lost := Figures{Dead: {Unknown: "connection refused"}}
	if fresh, over := a.Take(lost, noon.Add(time.Hour)); len(fresh)+len(over) > 0 {
		t.Errorf("new %v, over %v", fresh, over)
	}
	if fresh, over := a.Take(Figures{Dead: {Value: 5}}, noon.Add(time.Hour+time.Second)); len(fresh)+len(over) > 0 {
		t.Errorf("an hour that nobody knows of counts as kept: new %v, over %v", fresh, over)
	}
}

func TestADoubtIsToldWhenItLasts(t *testing.T) {
	t.Parallel()
	a := Alarm{Limits: Limits{Dead: 10, Age: 60}}
	lost, well := Figures{Dead: {Unknown: "connection refused"}, Age: {}}, Figures{Dead: {}, Age: {}}
	for _, step := range []struct {
		after time.Duration
		f     Figures
		told  int
	}{
		{0, lost, 0},
		{Patience - 1, lost, 0},
		{Patience, lost, 1},
		{Patience + 1, well, 0},
		{Patience + 2, lost, 0},
		{2*Patience + 2, lost, 1},
	} {
		if a.Take(step.f, noon.Add(step.after)); len(a.Doubts()) != step.told {
			t.Errorf("after %v: %v, want %d", step.after, a.Doubts(), step.told)
		}
	}
}

// Whatever happens: an alert is raised once until it is over, it is never raised or ended
// by what is not known, and never ended before its limit was kept for as long as it takes.
func TestAlertsComeAndGoOneByOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := Alarm{Limits: Limits{Dead: 10, Age: 60}}
		standing := map[Measure]bool{}
		kept := map[Measure]time.Time{}
		now := noon
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			f := Figures{}
			for _, m := range []Measure{Dead, Age} {
				switch rapid.IntRange(0, 2).Draw(t, string(m)) {
				case 0:
					f[m] = Figure{Unknown: "?"}
					delete(kept, m)
				case 1:
					f[m] = Figure{Value: 100}
					delete(kept, m)
				default:
					f[m] = Figure{}
					if _, was := kept[m]; !was {
						kept[m] = now
					}
				}
			}
			fresh, over := a.Take(f, now)
			for _, one := range over {
				if since, ok := kept[one.Measure]; !standing[one.Measure] || !ok || now.Sub(since) < Hold {
					t.Fatalf("%v is over", one)
				}
				delete(standing, one.Measure)
			}
			for _, one := range fresh {
				if standing[one.Measure] || f[one.Measure].Value != 100 {
					t.Fatalf("%v is new", one)
				}
				standing[one.Measure] = true
			}
			if len(a.Alerts()) != len(standing) {
				t.Fatalf("standing %v, want %v", a.Alerts(), standing)
			}
		}
	})
}
