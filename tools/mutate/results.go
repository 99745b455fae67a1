package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// result is a line of the file of results.
type result struct {
	Name        string   `json:"name"`
	Fingerprint string   `json:"fingerprint"`
	Finder      string   `json:"finder,omitempty"`
	Finding     string   `json:"finding,omitempty"`
	Asked       []string `json:"asked,omitempty"`
}

// results are those of each mutated text, and what was found last of each name.
type results struct {
	texts, names map[string]result
}

func readResults(path string) (*results, error) {
	known := &results{texts: map[string]result{}, names: map[string]result{}}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		// Several runs may have been at work, each with finders of its own.
		if before := known.texts[r.Fingerprint]; before.Finder == "" {
			r.Asked = append(before.Asked, r.Asked...)
			known.texts[r.Fingerprint] = r
		}
		if r.Finder != "" {
			known.names[r.Name] = r
		}
	}
	return known, lines.Err()
}

// give tells the trials what an earlier run has come to.
func (known *results) give(trials []*trial, again bool) {
	for _, t := range trials {
		t.before = known.names[t.name]
		t.before.Finder = cmp.Or(t.before.Finder, t.foundBy)
		if r, ok := known.texts[t.fingerprint()]; ok {
			t.outcome = outcome{finder: r.Finder, finding: r.Finding, asked: r.Asked}
		}
		if t.finder == "" && again {
			t.asked = nil
		}
	}
}

// has reports whether a finder has found nothing already.
func (o *outcome) has(finder string) bool { return slices.Contains(o.asked, finder) }

// notebook adds results to the file.
type notebook struct {
	mu   sync.Mutex
	path string
}

func (n *notebook) note(t *trial) error {
	line, err := json.Marshal(result{Name: t.name, Fingerprint: t.fingerprint(), Finder: t.finder, Finding: t.finding, Asked: t.asked})
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	file, err := os.OpenFile(n.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}
