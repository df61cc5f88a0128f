package stories

import (
	"context"
	"errors"

	"github.com/leasetop/leasetop/workers/scenario"
)

// deed is an act that takes long: the assertions of its step wait for its end, so that the
// audience sees how long it has taken, and may take.
type deed struct {
	over chan struct{} // closed at its end
	err  error         // why it failed, then
}

// begin begins it. It ends with the play at the latest.
func (d *deed) begin(s *scenario.Stage, do func(ctx context.Context, s *scenario.Stage) error) {
	ctx, stop := context.WithCancel(s.Context())
	d.over = make(chan struct{})
	s.Later("end what takes long", func(context.Context) error {
		stop()
		<-d.over
		return nil
	})
	go func() {
		defer close(d.over)
		d.err = do(ctx, s)
	}()
}

// doing is the act of a step that begins it.
func (d *deed) doing(do func(ctx context.Context, s *scenario.Stage) error) func(context.Context, *scenario.Stage) error {
	return func(_ context.Context, s *scenario.Stage) error {
		d.begin(s, do)
		return nil
	}
}

var errGoesOn = errors.New("it is not over")

// done is an assertion of what is so once it is over, and stays so.
func (d *deed) done(holds func() (ok bool, seen string)) func(context.Context, *scenario.Stage) (bool, string, error) {
	return func(context.Context, *scenario.Stage) (bool, string, error) {
		select {
		case <-d.over:
		default:
			return false, "", errGoesOn
		}
		if d.err != nil {
			return false, d.err.Error(), errors.Join(d.err, scenario.ErrFinal)
		}
		ok, seen := holds()
		if !ok {
			return false, seen, scenario.ErrFinal
		}
		return true, seen, nil
	}
}
