package alert

import (
	"slices"
	"testing"
)

func says(breaches []Breach) (said []string) {
	for _, b := range breaches {
		said = append(said, b.Says())
	}
	return said
}

func TestMoreThanTheLimitPassesItAndAsMuchDoesNot(t *testing.T) {
	t.Parallel()
	limits := Limits{Dead: 10, DeadRate: 0.5, Age: 300, Expired: 0, ExpiredRate: 2}
	within := Figures{Dead: {Value: 10}, DeadRate: {Value: 0.5}, Age: {Value: 300, Of: "emails"}, Expired: {}, ExpiredRate: {Value: 2}}
	if breaches, doubts := limits.Judge(within); len(breaches)+len(doubts) > 0 {
		t.Errorf("at the limit: %v, %v", breaches, doubts)
	}
	beyond := Figures{Dead: {Value: 1204}, DeadRate: {Value: 4.13}, Age: {Value: 724.4, Of: "emails"}, Expired: {Value: 1}, ExpiredRate: {Value: 120}}
	breaches, doubts := limits.Judge(beyond)
	want := []string{
		"1,204 dead letters, more than 10",
		"4.1 deaths a minute, more than 0.5",
		"the oldest ready job has waited 12m4s in emails, more than 5m",
		"1 lease ran out and nobody takes it back, more than 0",
		"120 leases run out a minute, more than 2",
	}
	if got := says(breaches); !slices.Equal(got, want) || len(doubts) > 0 {
		t.Errorf("said %q and doubted %v", got, doubts)
	}
}

func TestWithoutALimitNothingIsJudged(t *testing.T) {
	t.Parallel()
	for _, limits := range []Limits{nil, {}, {Age: 5}} {
		breaches, doubts := limits.Judge(Figures{Dead: {Value: 1e9}, Age: {Value: 5}, DeadRate: {Unknown: "whatever"}})
		if len(breaches)+len(doubts) > 0 {
			t.Errorf("%v: %v, %v", limits, breaches, doubts)
		}
	}
}

// Nobody is told that all is well by a figure that is not there.
func TestWhatIsNotKnownIsNeitherPassedNorKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		figures Figures
		why     string
	}{
		{Figures{}, "dead letters: it is not known"},
		{Figures{Dead: {Value: 99, Unknown: "it was last known 12s ago"}}, "dead letters: it was last known 12s ago"},
		{Figures{Dead: {Value: 5000, AtLeast: true}}, "dead letters: it was counted no further than 5,000"},
	} {
		breaches, doubts := Limits{Dead: 5000}.Judge(c.figures)
		if len(breaches) > 0 || len(doubts) != 1 || doubts[0].Says() != c.why {
			t.Errorf("%v: %v, %v; want %q", c.figures, breaches, doubts, c.why)
		}
	}
}

func TestALowerBoundBeyondTheLimitPassesIt(t *testing.T) {
	t.Parallel()
	breaches, doubts := Limits{Dead: 4999}.Judge(Figures{Dead: {Value: 5000, AtLeast: true}})
	if got := says(breaches); len(doubts) > 0 || !slices.Equal(got, []string{"at least 5,000 dead letters, more than 4,999"}) {
		t.Errorf("said %q and doubted %v", got, doubts)
	}
}

func TestAmountsAreShortAndNeverNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m    Measure
		v    float64
		want string
	}{
		{Dead, 0, "0"},
		{Dead, 999, "999"},
		{Dead, 1000, "1,000"},
		{Dead, 1234567, "1,234,567"},
		{DeadRate, 0, "0"},
		{DeadRate, 0.1, "0.1"},
		{DeadRate, 0.016, "0.016"},
		{DeadRate, 0.0004, "0.0004"},
		{DeadRate, 1, "1"},
		{DeadRate, 99.96, "100"},
		{DeadRate, 12345.6, "12,346"},
		{Age, -3, "0s"},
		{Age, 0.9, "0s"},
		{Age, 45, "45s"},
		{Age, 300, "5m"},
		{Age, 724, "12m4s"},
		{Age, 3600, "1h"},
		{Age, 3661, "1h1m"},
		{Age, 3605, "1h"},
		{Age, 266400, "3d2h"},
		{Age, 1e300, "11574d1h"},
	} {
		if got := Amount(c.m, c.v); got != c.want {
			t.Errorf("%v %v is %q, want %q", c.m, c.v, got, c.want)
		}
	}
}

func TestBreachesAreToldInBrief(t *testing.T) {
	t.Parallel()
	limits := Limits{Dead: 10, DeadRate: 0.5, Age: 300, Expired: 0, ExpiredRate: 2}
	breaches, _ := limits.Judge(Figures{Dead: {Value: 50_000, AtLeast: true}, DeadRate: {Value: 4.13}, Age: {Value: 724, Of: "emails"}, Expired: {Value: 1}, ExpiredRate: {Value: 120}})
	var got []string
	for _, b := range breaches {
		got = append(got, b.Brief())
	}
	if want := []string{"dead 50,000+ > 10", "deaths 4.1/min > 0.5", "oldest 12m4s in emails > 5m", "expired 1 > 0", "expiring 120/min > 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
