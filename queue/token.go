package queue

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Token is the fencing token of one claim, the text of locked_by:
//
//	host:pid:boot/worker#claim
//
// boot is random for each start of a process, and claim counts up, so no two
// claim statements ever write the same owner. Attempts alone would not fence:
// a redrive resets them.
type Token struct {
	Process string // host:pid:boot
	Worker  string // the worker's name within its process
	Claim   uint64
}

// String is the text written to locked_by.
func (t Token) String() string {
	return t.Process + "/" + t.Worker + "#" + strconv.FormatUint(t.Claim, 10)
}

// ParseToken reads the owner of a job; ok is false for owners that are not leasetop's.
func ParseToken(owner string) (t Token, ok bool) {
	slash := strings.LastIndexByte(owner, '/')
	if slash < 0 || strings.Count(owner[:slash], ":") < 2 {
		return Token{}, false
	}
	hash := strings.LastIndexByte(owner[slash:], '#')
	if hash < 0 {
		return Token{}, false
	}
	claim, err := strconv.ParseUint(owner[slash+hash+1:], 10, 64)
	if err != nil {
		return Token{}, false
	}
	return Token{Process: owner[:slash], Worker: owner[slash+1 : slash+hash], Claim: claim}, true
}

// NewProcess names this start of this process for its tokens: host:pid:boot.
func NewProcess() string {
	host, _ := os.Hostname()
	var boot [4]byte
	rand.Read(boot[:]) // never fails since Go 1.24
	return fmt.Sprintf("%.100s:%d:%s", hostInToken(host), os.Getpid(), hex.EncodeToString(boot[:]))
}

// hostInToken is a host's name as a token may hold it: a kernel takes any bytes for one, a
// database only UTF-8, and some characters part a token.
func hostInToken(host string) string {
	if host == "" {
		return "unknown"
	}
	return strings.Map(func(c rune) rune {
		if c == utf8.RuneError || c < ' ' || c == 0x7f || strings.ContainsRune("/#:", c) {
			return '-'
		}
		return c
	}, host)
}
