package demo

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/leasetop/leasetop/queue"
)

// The queues of the demonstration.
const (
	emails  = "emails"
	images  = "images"
	reports = "reports"
)

// Queues are the queues that the demonstration's handlers serve.
func Queues() []string { return []string{emails, images, reports} }

// Payloads of the jobs.
type (
	mail struct {
		To       string `json:"to"`
		Template string `json:"template"`
		Subject  string `json:"subject"`
		Customer int    `json:"customer_id"`
	}
	picture struct {
		Source string `json:"source"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
		Format string `json:"format"`
	}
	report struct {
		Account string `json:"account"`
		Month   string `json:"month"`
		Rows    int    `json:"rows"`
		Format  string `json:"format"`
	}
)

// Where things go wrong: names in payloads that the handlers know.
const (
	busyHost    = "busy.example.com" // limits its rate: the first try fails
	fullHost    = "full.example.com" // its mailboxes are full: every try fails
	slowHost    = "slow-cdn.example.com"
	corruptFile = "truncated-upload.jpg"
	lockedMonth = "2026-02" // the first try meets a lock
)

// troubles are the chances, in percent, that a made-up job meets each trouble.
type troubles struct{ busy, full, slow, corrupt, locked int }

var (
	usualTroubles = troubles{busy: 6, full: 1, slow: 6, corrupt: 1, locked: 10}
	// calmTroubles make no more dead letters.
	calmTroubles = troubles{busy: 6, slow: 6, locked: 10}
)

func percent(n int) bool { return rand.IntN(100) < n }

func pick[T any](from ...T) T { return from[rand.IntN(len(from))] }

var people = []string{
	"ada", "alan", "barbara", "claude", "donald", "edsger", "frances", "grace", "hedy", "john",
	"katherine", "ken", "leslie", "linus", "margaret", "niklaus", "radia", "sophie", "tim", "yukihiro",
}

// newMail makes up a mail.
func newMail(t troubles) queue.NewJob {
	host := "example.com"
	switch {
	case percent(t.full):
		host = fullHost
	case percent(t.busy):
		host = busyHost
	}
	kind, template, subject := "send_receipt", "receipt", fmt.Sprintf("Your receipt no. %d", 40_000+rand.IntN(9_999))
	switch rand.IntN(5) {
	case 0:
		kind, template, subject = "send_welcome", "welcome", "Welcome aboard"
	case 1:
		kind, template, subject = "password_reset", "reset", "Reset your password"
	}
	return job(emails, kind, 3, mail{
		To: pick(people...) + "@" + host, Template: template, Subject: subject, Customer: 1_000 + rand.IntN(9_000),
	})
}

// newImage makes up an image to work on.
func newImage(t troubles) queue.NewJob {
	source := fmt.Sprintf("https://cdn.example.com/uploads/%06x.jpg", rand.IntN(1<<24))
	switch {
	case percent(t.corrupt):
		source = "https://cdn.example.com/uploads/" + corruptFile
	case percent(t.slow):
		source = fmt.Sprintf("https://%s/uploads/%06x.jpg", slowHost, rand.IntN(1<<24))
	}
	side := pick(320, 640, 1280, 1920)
	kind := pick("resize", "thumbnail", "resize", "watermark")
	if kind == "thumbnail" {
		side = 160
	}
	return job(images, kind, 4, picture{Source: source, Width: side, Height: side * 3 / 4, Format: pick("webp", "jpeg", "avif")})
}

// newReport makes up a report.
func newReport(t troubles) queue.NewJob {
	month := fmt.Sprintf("2025-%02d", 1+rand.IntN(12))
	if percent(t.locked) {
		month = lockedMonth
	}
	kind := pick("monthly_report", "monthly_report", "export_csv")
	format := "pdf"
	if kind == "export_csv" {
		format = "csv"
	}
	return job(reports, kind, 3, report{
		Account: pick("acme", "globex", "initech", "umbrella", "hooli", "vehement"), Month: month,
		Rows: 10_000 + rand.IntN(90_000), Format: format,
	})
}

// poison is a mail whose template nobody else uses and nobody has deployed yet.
func poison() queue.NewJob {
	return job(emails, "send_winback", 3, mail{
		To: pick(people...) + "@example.com", Template: fmt.Sprintf("winback-%04x", rand.IntN(1<<16)),
		Subject: "We miss you", Customer: 1_000 + rand.IntN(9_000),
	})
}

func job(queueName, kind string, maxAttempts int, payload any) queue.NewJob {
	text, err := json.Marshal(payload)
	if err != nil {
		panic(err) // the payloads above are plain structs
	}
	return queue.NewJob{Queue: queueName, Kind: kind, Payload: text, MaxAttempts: maxAttempts}
}
