// Package languages holds no Go code but tests: README.md is the contract for
// workers in any language, worker.mjs and worker.py keep it in two of them.
package languages
