package analyze

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A play is a run of a made-up procedure, with conditions and failures decided by chance.
type play struct {
	rng  *rand.Rand
	sent []string // the first columns of the sets
}

// An outcome is how a statement ends.
type outcome int

const (
	goesOn outcome = iota
	returned
	failed
	broke
)

// An act is a part of a made-up procedure: its text and what it does.
type act struct {
	text string
	run  func(p *play) outcome
}

// sequence makes statements one after the other.
func sequence(parts []act) act {
	var text strings.Builder
	for _, part := range parts {
		text.WriteString(strings.TrimSuffix(part.text, ";") + ";\n")
	}
	return act{text.String(), func(p *play) outcome {
		for _, part := range parts {
			if p.rng.IntN(12) == 0 {
				return failed // any statement can
			}
			if end := part.run(p); end != goesOn {
				return end
			}
		}
		return goesOn
	}}
}

// statement makes up one statement.
func statement(rng *rand.Rand, depth int, inLoop bool) act {
	kind := rng.IntN(10)
	if depth == 0 && kind > 4 {
		kind %= 5
	}
	switch kind {
	case 0, 1, 2:
		if inLoop && rng.IntN(2) == 0 { // a set that ends the loop
			name := string(rune('a' + rng.IntN(4)))
			return act{"BEGIN SELECT 1 AS " + name + "; BREAK; END", func(p *play) outcome {
				p.sent = append(p.sent, name)
				return broke
			}}
		}
		name := string(rune('a' + rng.IntN(4)))
		return act{"SELECT 1 AS " + name + ";", func(p *play) outcome {
			p.sent = append(p.sent, name)
			if p.rng.IntN(20) == 0 {
				return failed // with some rows sent already
			}
			return goesOn
		}}
	case 3:
		return act{"RETURN;", func(*play) outcome { return returned }}
	case 4:
		return act{"THROW 50001, N'no', 1;", func(*play) outcome { return failed }}
	case 5, 6:
		then, otherwise := block(rng, depth-1, inLoop), block(rng, depth-1, inLoop)
		return act{"IF @x = 1 " + then.text + " ELSE " + otherwise.text, func(p *play) outcome {
			if p.rng.IntN(2) == 0 {
				return then.run(p)
			}
			return otherwise.run(p)
		}}
	case 7:
		then := block(rng, depth-1, inLoop)
		return act{"IF @x = 1 " + then.text, func(p *play) outcome {
			if p.rng.IntN(2) == 0 {
				return then.run(p)
			}
			return goesOn
		}}
	case 8:
		try, catch := block(rng, depth-1, false), block(rng, depth-1, false)
		text := strings.Replace(strings.TrimSuffix(try.text, "END"), "BEGIN", "BEGIN TRY", 1) + "END TRY " +
			strings.Replace(strings.TrimSuffix(catch.text, "END"), "BEGIN", "BEGIN CATCH", 1) + "END CATCH"
		ends := inLoop && rng.IntN(2) == 0
		if ends {
			text += " BREAK;"
		}
		return act{text, func(p *play) outcome {
			end := try.run(p)
			if end == failed {
				end = catch.run(p)
			}
			if ends && end == goesOn {
				return broke
			}
			return end
		}}
	default:
		body := block(rng, depth-1, true)
		return act{"WHILE @x < 3 " + body.text, func(p *play) outcome {
			for p.rng.IntN(3) > 0 {
				switch end := body.run(p); end {
				case goesOn:
				case broke:
					return goesOn
				default:
					return end
				}
			}
			return goesOn
		}}
	}
}

// block makes up BEGIN … END.
func block(rng *rand.Rand, depth int, inLoop bool) act {
	parts := []act{{"SET @x += 1;", func(*play) outcome { return goesOn }}}
	for range rng.IntN(4) {
		parts = append(parts, statement(rng, depth, inLoop))
	}
	inner := sequence(parts)
	return act{"BEGIN " + inner.text + "END", inner.run}
}

// TestSoundness makes up procedures, runs each many times, and checks that the flow knows every order of result sets in
// which a call succeeds, that no field is filled twice unless it is flagged Repeated, and that only fields flagged
// Maybe are missing.
func TestSoundness(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 14))
	accepted := 0
	for range 400 {
		body := block(rng, 3, false)
		p, found := programOf(t, "CREATE PROCEDURE dbo.p @x int AS\n"+body.text, "", Options{})
		if len(found) > 0 {
			t.Fatalf("%s\n%s", renderFound(found), body.text)
		}
		for range 40 {
			run := &play{rng: rng}
			if end := body.run(run); end == failed {
				continue
			}
			accepted++
			if err := follow(p.Procedures[0], run.sent); err != nil {
				t.Fatalf("%v sent: %v\n%s\n%s", run.sent, err, renderProcedure(p.Procedures[0]), body.text)
			}
		}
	}
	if accepted < 5000 {
		t.Errorf("%d calls followed", accepted)
	}
}

// follow takes the result sets of a call as a client does.
func follow(p *Procedure, sent []string) error {
	state, filled := 0, map[int]bool{}
	for _, name := range sent {
		edges := p.Flow.States[state].Edges
		i := slices.IndexFunc(edges, func(e Edge) bool { return p.Results[e.Set].Columns[0].Name == name })
		if i < 0 {
			return fmt.Errorf("%s cannot come in state %d", name, state)
		}
		if filled[edges[i].Set] && !p.Results[edges[i].Set].Repeated {
			return fmt.Errorf("the field of %s is filled twice", name)
		}
		filled[edges[i].Set] = true
		state = edges[i].To
	}
	if !p.Flow.States[state].Final {
		return fmt.Errorf("a call cannot end in state %d", state)
	}
	for i, r := range p.Results {
		if !r.Maybe && !filled[i] {
			return fmt.Errorf("%s is missing", r.Columns[0].Name)
		}
	}
	return nil
}
