package watch

import "testing"

func TestFiguresAreWritten(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		rounded(0): "0", rounded(9999): "9,999", rounded(10_000): "10k", rounded(999_999): "999k",
		rounded(1_000_000): "1.0M", rounded(1_700_000_000): "1,700M",
		size(0): "under 1 MB", size(1 << 20): "1 MB", size(999 << 20): "999 MB", size(1000 << 20): "1.0 GB", size(2048 << 30): "2,048 GB",
		percent(0): "0 %", percent(1e-9): "under 1 %", percent(0.5): "50 %", percent(1): "100 %",
		manyOf(1, "slot"): "1 slot", manyOf(1204, "slot"): "1,204 slots",
		literal("it's"): "'it''s'", identifier("app_1"): "app_1", identifier("1app"): `"1app"`, identifier(`a"b`): `"a""b"`, identifier(""): `""`,
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
