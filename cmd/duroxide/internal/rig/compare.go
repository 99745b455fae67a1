package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CompareConfig is a comparison of two programs.
type CompareConfig struct {
	// Old and New are the programs, and Args what follows "bench" for both.
	Old, New string
	Args     []string
	// Rounds is how often both are run, in alternating order.
	Rounds int
}

// Comparison is one figure that both programs have shown, or that was taken of their
// processes.
type Comparison struct {
	Figure string `json:"figure"`
	// Old and New are medians of the rounds.
	Old float64 `json:"old"`
	New float64 `json:"new"`
	// Ratio is the median of the rounds' ratios, new to old; Lowest and Highest bound them.
	Ratio   float64 `json:"ratio"`
	Lowest  float64 `json:"lowest"`
	Highest float64 `json:"highest"`
}

// Compare runs a rig by two programs in turn and compares all figures that differ. What a
// program does not print is not compared, but the processor time and the bytes written of
// the whole process are: for each orchestration, if the rig says how many have ended.
func Compare(ctx context.Context, config CompareConfig) ([]Comparison, error) {
	var runs [2][]map[string]float64
	for round := range config.Rounds {
		for turn := range 2 {
			which := (round + turn) % 2
			figures, err := runRig(ctx, []string{config.Old, config.New}[which], config.Args)
			if err != nil {
				return nil, err
			}
			runs[which] = append(runs[which], figures)
		}
	}
	return compare(runs[0], runs[1]), nil
}

// runRig runs a rig in a process of its own and returns its figures by their path.
func runRig(ctx context.Context, program string, args []string) (map[string]float64, error) {
	cmd := exec.CommandContext(ctx, program, slices.Concat([]string{"bench"}, args, []string{"--json"})...) //nolint:gosec // the user names it
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop, bytesWritten := watchWritten(strconv.Itoa(cmd.Process.Pid))
	err := cmd.Wait()
	stop()
	if err != nil {
		return nil, fmt.Errorf("%s bench %s: %w", program, strings.Join(args, " "), err)
	}
	var document any
	if err := json.Unmarshal(stdout.Bytes(), &document); err != nil {
		return nil, fmt.Errorf("%s printed no JSON: %w", program, err)
	}
	figures := map[string]float64{}
	flatten(figures, "", document)
	ended := 1.0
	if n := completed(figures); n > 0 {
		ended = n
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	figures["process.cpu_ms"] = cpu.Seconds() * 1000 / ended
	if n := *bytesWritten; n > 0 {
		figures["process.bytes_written"] = float64(n) / ended
	}
	return figures, nil
}

// watchWritten samples what a process has written until stop; only then n may be read.
func watchWritten(process string) (stop func(), n *int64) {
	n = new(int64)
	quit, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		ticker := time.NewTicker(2 * time.Millisecond)
		defer ticker.Stop()
		for {
			if now, known := written(process); known {
				*n = max(*n, now)
			}
			select {
			case <-ticker.C:
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-over }, n
}

// flatten collects the numbers of a document by their path, but for the times of the store's
// calls, which programs list in different orders.
func flatten(figures map[string]float64, path string, value any) {
	switch value := value.(type) {
	case float64:
		figures[path] = value
	case []any:
		for i, element := range value {
			flatten(figures, fmt.Sprintf("%s[%d]", path, i), element)
		}
	case map[string]any:
		delete(value, "methods")
		for name, member := range value {
			flatten(figures, strings.TrimPrefix(path+"."+name, "."), member)
		}
	}
}

// completed is the number of orchestrations that have ended, 0 if the rig does not say.
func completed(figures map[string]float64) (sum float64) {
	for path, n := range figures {
		if strings.HasSuffix(path, ".completed") {
			sum += n
		}
	}
	return sum
}

// compare compares what both programs have shown in each round and is not the same always.
func compare(before, after []map[string]float64) []Comparison {
	list := []Comparison{}
	for figure := range before[0] {
		var olds, news, ratios []float64
		for round := range before {
			o, inOld := before[round][figure]
			n, inNew := after[round][figure]
			if inOld && inNew {
				olds, news = append(olds, o), append(news, n)
			}
			if o != 0 {
				ratios = append(ratios, n/o)
			}
		}
		same := slices.Concat(olds, news)
		if len(olds) < len(before) || len(ratios) < len(before) || slices.Min(same) == slices.Max(same) {
			continue
		}
		list = append(list, Comparison{
			Figure: figure, Old: middle(olds), New: middle(news),
			Ratio: middle(ratios), Lowest: slices.Min(ratios), Highest: slices.Max(ratios),
		})
	}
	slices.SortFunc(list, func(a, b Comparison) int { return strings.Compare(a.Figure, b.Figure) })
	return list
}
