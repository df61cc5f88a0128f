package filter_test

import (
	"errors"
	"fmt"

	"github.com/leasetop/leasetop/queue/filter"
)

// What is typed becomes one predicate, which a statement takes as the value of a
// parameter: leasetop.facts(jobs, wide) @@ $1::jsonpath.
func ExampleParse() {
	f, err := filter.Parse(`queue:emails,images error:"rate limited" attempts:>3 !payload.to:ann@example.com`)
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Path())
	fmt.Println("only in", f.Queues(), "reads payloads:", f.Wide())
	// Output:
	// ($[1] == "emails" || $[1] == "images") && ($[7] like_regex "rate limited" flag "iq") && ($[5] > 3) && !exists($[0] ? ($[12]."to" == "ann@example.com"))
	// only in [emails images] reads payloads: true
}

// A mistake tells where it is, and what may have been meant.
func ExampleMistake() {
	text := "queue:emails status:ded"
	_, err := filter.Parse(text)
	var m *filter.Mistake
	if errors.As(err, &m) {
		fmt.Println(text[m.From:m.To], "-", m.Error())
	}
	_, err = filter.Parse("queue:emails status:de")
	if errors.As(err, &m) && m.Open {
		fmt.Println("it may still become right")
	}
	// Output:
	// ded - no status is called "ded": dead?
	// it may still become right
}

func ExampleFilter_Statuses() {
	for _, text := range []string{"status:ready,dead", "died:<1h", "!status:dead"} {
		f, err := filter.Parse(text)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %q\n", f.String(), f.Statuses())
	}
	fmt.Println(filter.Everything.Empty())
	// Output:
	// status:ready,dead: ["dead" "pending"]
	// died:<1h: ["dead" "failed"]
	// !status:dead: []
	// true
}

// A group of dead letters is opened by a filter that can be typed again.
func ExampleGroup() {
	fmt.Println(filter.Group("emails", "", "SMTP 421 rate limited by ‹host›"))
	// Output: queue:emails kind:"" fingerprint:"SMTP 421 rate limited by ‹host›"
}

func ExampleComplete() {
	known := filter.Known{Queues: []string{"emails", "emails, slow", "images"}}
	text := "status:dead queue:em"
	for _, c := range filter.Complete(text, len(text), known) {
		fmt.Printf("%s%s (%s)\n", text[:c.From], c.Text, c.Note)
	}
	// Output:
	// status:dead queue:emails (a queue)
	// status:dead queue:"emails, slow" (a queue)
}

func ExampleKeys() {
	for _, k := range filter.Keys()[:3] {
		fmt.Printf("%s: %s. %s %s\n", k.Name, k.Takes, k.Help, k.Example)
	}
	// Output:
	// queue: a name. The queue. queue:emails,images*
	// kind: a name. The kind, which says what handler a job is for. kind:send
	// status: a status. Where a job stands; ready and scheduled are pending. status:failed,dead
}

// The words of a filter, for whoever has keys of their own.
func ExampleWords() {
	for _, w := range filter.Words(`what:failed,buried !"rate limited"`) {
		fmt.Println(w.Not, len(w.Key), w.Values[0].Text, len(w.Values))
	}
	// Output:
	// false 1 failed 2
	// true 0 rate limited 1
}

func ExampleQuote() {
	fmt.Println(filter.Quote("emails"), filter.Quote("my queue"), filter.Quote(`a "b"*`))
	// Output: emails "my queue" "a ""b""*"
}

func ExampleNearest() {
	fmt.Println(filter.Nearest("faild", []string{"dead", "failed"}))
	// Output: failed
}
