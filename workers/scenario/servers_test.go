package scenario

import "testing"

// Those that need servers of their own take longer, and are played one after another.
func TestServerScenariosPass(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	g := ground(t)
	for _, sc := range All() {
		if sc.Needs != Server {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			if r := perform(t.Context(), t, sc.Name, g, 10); !r.OK {
				t.Errorf("%v", r.Err)
			}
		})
	}
}
