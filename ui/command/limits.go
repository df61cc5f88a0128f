package command

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/ui/cli"
)

// limit is a flag that sets a limit for one measure.
type limit struct {
	of      alert.Limits
	measure alert.Measure
	text    string
}

// limitsFlags adds a flag for each measure: --max-dead, --max-dead-rate, …
func limitFlags(flags *pflag.FlagSet, of alert.Limits, prefix, does string, measures ...alert.Measure) {
	for _, m := range measures {
		name := prefix + "-" + strings.ReplaceAll(string(m), "_", "-")
		flags.Var(&limit{of: of, measure: m}, name, does+" "+limitHelp[m])
	}
}

// limitHelp says what is limited.
var limitHelp = map[alert.Measure]string{
	alert.Dead:        "more than so many dead letters",
	alert.DeadRate:    "more than so many deaths a minute, over ten minutes",
	alert.Age:         "an oldest ready job that has waited longer than this, like 5m",
	alert.Expired:     "more than so many leases that ran out 5 s ago or earlier and nobody takes back",
	alert.ExpiredRate: "more than so many leases that run out a minute, over ten minutes",
}

func (l *limit) Type() string {
	if l.measure == alert.Age {
		return "duration"
	}
	return "number"
}

func (l *limit) String() string { return l.text }

func (l *limit) Set(text string) error {
	v, err := l.parse(text)
	if err != nil {
		return err
	}
	l.text, l.of[l.measure] = text, v
	return nil
}

func (l *limit) parse(text string) (float64, error) {
	switch l.measure {
	case alert.Age:
		d, err := cli.ParseDuration(text)
		if err != nil {
			return 0, errors.New("use a length of time like 90s, 5m or 2h")
		}
		return d.Seconds(), nil
	case alert.Dead, alert.Expired:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 0 {
			return 0, errors.New("use a whole number from 0 to 2147483647")
		}
		return float64(n), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= math.MaxInt32) {
		return 0, errors.New("use a number a minute like 0.5 or 10")
	}
	return v, nil
}
