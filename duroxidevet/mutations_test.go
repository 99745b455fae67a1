package duroxidevet_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutation is a small mistake in one of the examples. File is below examples/. Old occurs there once; what stands
// behind "@end" in new is put at the end of the file.
type mutation struct {
	name, file, old, new string
	// kind is the finding that tells of it. It is empty if only the replay check can.
	kind string
}

const (
	orders   = "order/order.go"
	payments = "order/payment.go"
	hello    = "hello/main.go"

	reserves = "	receipt, err := orchestration.SubOrchestration(ctx, payment, o.Cents).Await()\n"
	key      = "b := bill{Key: ctx.Info().Instance, Cents: cents}"
	greets   = "	for _, city := range cities {\n		greetings = append(greetings, orchestration.Activity(ctx, greet, city)) // all at once\n	}\n"
	large    = "	const large = 1000_00\n"
	asked    = `	ctx.SetCustomStatus("waits for a decision")` + "\n"
)

// mutations are the mistakes that people make, in the examples.
var mutations = []mutation{
	{"the deadline is midnight", orders, "24 * time.Hour", "time.Until(time.Now().Truncate(24*time.Hour).Add(24*time.Hour))", "clock"},
	{"nobody is asked on Sundays", orders, "o.Cents >= large", "o.Cents >= large && time.Now().Weekday() != time.Sunday", "clock"},
	{"a pause by the process", orders, reserves, "	time.Sleep(time.Second)\n" + reserves, "clock"},
	{"a pause by a channel", orders, reserves, "	<-time.After(time.Second)\n" + reserves, "clock"},
	{"a pause by a ticker", orders, reserves, "	pause := time.NewTicker(time.Second)\n	defer pause.Stop()\n" + reserves, "clock"},
	{"a deadline by a context", payments, key, "limit, stop := context.WithTimeout(context.Background(), time.Minute)\n	defer stop()\n	if limit.Err() != nil {\n		return \"\", limit.Err()\n	}\n	" + key, "clock"},
	{"a clock in a variable", payments, key, "b := bill{Key: now().String(), Cents: cents}@end var now = time.Now", "clock"},
	{"a clock two calls away", payments, key, "b := bill{Key: newKey(), Cents: cents}@end func newKey() string { return stamp() + \"-key\" }\n\nfunc stamp() string { return time.Now().String() }", "clock"},
	{"a clock as an argument", payments, key, "b := bill{Key: keyAt(time.Now), Cents: cents}@end func keyAt(now func() time.Time) string { return now().String() }", "clock"},
	{"retries in working hours", payments, "MaxAttempts: 8,", "MaxAttempts: 8, Retryable: func(error) bool { return time.Now().Hour() < 18 },", "clock"},
	{"a discount by chance", payments, "Cents: cents}", "Cents: cents - rand.IntN(3)}", "random"},
	{"a key by chance", payments, "ctx.Info().Instance", "uuid.NewString()", "random"},
	{"a key from the system's randomness", payments, "ctx.Info().Instance", "crand.Text()", "random"},
	{"a key from a method", payments, "ctx.Info().Instance", "keys{}.next()@end type keys struct{}\n\nfunc (keys) next() string { return uuid.New().String() }", "random"},
	{"a pause by chance", payments, "retry.Exponential(200*time.Millisecond, 2, time.Minute)", "func(int) time.Duration { return time.Duration(rand.IntN(100)) * time.Millisecond }", "random"},
	{"one city is drawn", hello, greets, "	cities = cities[:rand.IntN(len(cities))+1]\n" + greets, "random"},
	{"a release in a goroutine", orders, "		_, releaseErr := orchestration.Activity(ctx, release, o.Item).Await()\n		return \"\", errors.Join(err, releaseErr)", "		go func() { _, _ = orchestration.Activity(ctx, release, o.Item).Await() }()\n		return \"\", err", "goroutine"},
	{"greetings in goroutines", hello, greets, "	greetings = make([]*orchestration.Future[string], len(cities))\n	var all sync.WaitGroup\n	for i, city := range cities {\n		all.Go(func() { greetings[i] = orchestration.Activity(ctx, greet, city) })\n	}\n	all.Wait()\n", "goroutine"},
	{"a channel of greetings", hello, greets, "	queue := make(chan string, len(cities))\n	for _, city := range cities {\n		queue <- city\n	}\n	for range cities {\n		greetings = append(greetings, orchestration.Activity(ctx, greet, <-queue))\n	}\n", "channel"},
	{"a select between channels", orders, reserves, "	one, two := make(chan int, 1), make(chan int, 1)\n	one <- 1\n	two <- 2\n	select {\n	case <-one:\n	case <-two:\n		ctx.Sleep(1)\n	}\n" + reserves, "channel"},
	{"a lock between instances", orders, reserves, "	shelf.Lock()\n	defer shelf.Unlock()\n" + reserves + "@end var shelf sync.Mutex", "lock"},
	{"what is done once in a process", orders, reserves, "	once.Do(func() { ctx.SetCustomStatus(\"the first\") })\n" + reserves + "@end var once sync.Once", "lock"},
	{"cities from a map", hello, greets, "	set := map[string]bool{}\n	for _, city := range cities {\n		set[city] = true\n	}\n	for city := range set {\n		greetings = append(greetings, orchestration.Activity(ctx, greet, city))\n	}\n", "maporder"},
	{"cities from the keys of a map", hello, greets, "	set := map[string]bool{}\n	for _, city := range cities {\n		set[city] = true\n	}\n	for city := range maps.Keys(set) {\n		greetings = append(greetings, orchestration.Activity(ctx, greet, city))\n	}\n", "maporder"},
	{"a helper that lists a map", hello, greets, "	for _, city := range distinct(cities) {\n		greetings = append(greetings, orchestration.Activity(ctx, greet, city))\n	}\n@end func distinct(cities []string) (names []string) {\n	set := map[string]bool{}\n	for _, city := range cities {\n		set[city] = true\n	}\n	for city := range set {\n		names = append(names, city)\n	}\n	return names\n}", "maporder"},
	{"the last of a map", orders, reserves, "	for item := range map[string]int{o.Item: 1, \"gift\": 2} {\n		o.Item = item\n	}\n" + reserves, "maporder"},
	{"every third order is free", orders, reserves, "	if count++; count%3 == 0 {\n		return \"free\", nil\n	}\n" + reserves + "@end var count int", "global"},
	{"an atomic number of the order", payments, "ctx.Info().Instance", "strconv.FormatInt(number.Add(1), 10)@end var number atomic.Int64", "global"},
	{"a cache of receipts", orders, reserves, "	if receipt, ok := receipts[o.Item]; ok {\n		return receipt, nil\n	}\n	receipts[o.Item] = o.Item\n" + reserves + "@end var receipts = map[string]string{}", "global"},
	{"a limit that a flag sets", orders, large, "	large := *limit\n@end var limit *int\n\nfunc flags() { limit = flag.Int(\"limit\", 1000_00, \"what is large\") }", "global"},
	{"statistics by a method", orders, reserves, "	totals.add(o.Cents)\n" + reserves + "@end type sum struct{ cents int }\n\nfunc (s *sum) add(cents int) { s.cents += cents }\n\nvar totals sum", "global"},
	{"a limit from the environment", orders, large, "	large, _ := strconv.Atoi(os.Getenv(\"LARGE\"))\n", "runtime"},
	{"a worker for each processor", hello, greets, "	cities = cities[:min(len(cities), runtime.NumCPU())]\n" + greets, "runtime"},
	{"the name of the machine", orders, `"waits for a decision"`, `"waits on " + machine()` + "@end func machine() string {\n	name, _ := os.Hostname()\n	return name\n}", "runtime"},
	{"prices from a file", orders, reserves, "	if _, err := os.Stat(o.Item); err == nil {\n		return \"\", nil\n	}\n" + reserves, "io"},
	{"prices from the network", orders, reserves, "	if _, err := http.Get(\"http://localhost/\" + o.Item); err != nil {\n		return \"\", err\n	}\n" + reserves, "io"},
	{"a line for the terminal", orders, asked, asked + "	fmt.Println(\"somebody is asked\")\n", "io"},
	{"a line in the log", orders, asked, asked + "	log.Printf(\"somebody is asked\")\n", "io"},
	{"a structured line in the log", orders, asked, asked + "	slog.Info(\"somebody is asked\")\n", "io"},
	{"an address as the key", payments, key, key + "\n	b.Key = fmt.Sprintf(\"%p\", &b)", "address"},
	{"the charge without an activity", payments, "a, err := orchestration.Activity(ctx, charge, b, ", "_, _ = sandbox(context.Background(), b)\n	a, err := orchestration.Activity(ctx, charge, b, ", "random"},
	{"the greeting without an activity", hello, greets, "	for _, city := range cities {\n		text, err := greeting(context.Background(), city)\n		if err != nil {\n			return nil, err\n		}\n		greetings = append(greetings, orchestration.Activity(ctx, again, text))\n	}\n@end var again = activity.New(\"Again\", greeting)\n\nfunc greeting(_ context.Context, city string) (string, error) { return city, nil }", "activity"},
	{"a release when the function ends", orders, reserves, "	defer orchestration.Activity(ctx, release, o.Item).Await()\n" + reserves, "defer"},
	{"a release by a deferred function", orders, reserves, "	defer func() { _, _ = orchestration.Activity(ctx, release, o.Item).Await() }()\n" + reserves, "defer"},
	{"a status when the function ends", orders, "	ctx.ResetCustomStatus()\n", "	defer ctx.ResetCustomStatus()\n", "defer"},
	{"nothing is reserved in a replay", orders, "	if _, err := orchestration.Activity(ctx, reserve, o.Item).Await(); err != nil {\n		return \"\", err\n	}\n", "	if !ctx.Replaying() {\n		if _, err := orchestration.Activity(ctx, reserve, o.Item).Await(); err != nil {\n			return \"\", err\n		}\n	}\n", "replaying"},
	{"the context of another run", orders, reserves, "	if last == nil {\n		last = ctx\n	}\n	ctx = last\n" + reserves + "@end var last *orchestration.Context", "context"},
	{"the context outside a block", hello, greets, "	for _, city := range cities {\n		greetings = append(greetings, orchestration.Go(ctx, func(*orchestration.Context) (string, error) {\n			return orchestration.Activity(ctx, greet, city).Await()\n		}))\n	}\n", "block"},

	{"a clock behind an interface", payments, "ctx.Info().Instance", "clocks[0].now()@end type clock interface{ now() string }\n\ntype wall struct{}\n\nfunc (wall) now() string { return time.Now().String() }\n\nvar clocks = []clock{wall{}}", ""},
	{"chance in a field", payments, "ctx.Info().Instance", "ids.next()@end var ids = struct{ next func() string }{func() string { return uuid.NewString() }}", ""},
	{"it is charged before it is reserved", orders, "	if _, err := orchestration.Activity(ctx, reserve, o.Item).Await(); err != nil {\n		return \"\", err\n	}\n" + reserves, reserves + "	if _, err := orchestration.Activity(ctx, reserve, o.Item).Await(); err != nil {\n		return \"\", err\n	}\n", ""},
	{"an activity by another name", orders, `("Ship")`, `("Send")`, ""},
	{"another activity in between", orders, reserves, "	if _, err := orchestration.Activity(ctx, ship, o.Item).Await(); err != nil {\n		return \"\", err\n	}\n" + reserves, ""},
	{"a pause in between", orders, reserves, "	ctx.Sleep(time.Second)\n" + reserves, ""},
	{"the deadline before the event", orders, "	answer := decided.Wait(ctx)\n	deadline := ctx.Timer(24 * time.Hour)\n", "	deadline := ctx.Timer(24 * time.Hour)\n	answer := decided.Wait(ctx)\n", ""},
	{"another event", orders, `NewEvent[decision]("decision")`, `NewEvent[decision]("approval")`, ""},
	{"one greeting after the other", hello, "orchestration.Join(greetings...)", "orchestration.Join(greetings[:1]...)", ""},
	{"another sub-orchestration", payments, `orchestration.New("Payment"`, `orchestration.New("Charging"`, ""},
}

// TestMutations makes each mistake in the examples, and looks for the finding that the table promises. What the table
// leaves to the replay check must have no finding, so that it says how far the analyser reaches.
func TestMutations(t *testing.T) {
	t.Parallel()
	l := newLoader(t)
	for _, name := range []string{"order", "hello"} {
		if found := l.findings(t, library+"/examples/"+name, example(t, name)); len(found) > 0 {
			t.Errorf("the example %s has findings: %v", name, found)
		}
	}
	seen, caught := map[string]bool{}, 0
	for _, m := range mutations {
		if seen[m.name] {
			t.Errorf("two mutations are called %q", m.name)
		}
		seen[m.name] = true
		folder := filepath.Dir(m.file)
		sources := example(t, folder)
		sources[filepath.Base(m.file)] = m.apply(t, sources[filepath.Base(m.file)])
		var kinds []string
		for _, d := range l.findings(t, library+"/examples/"+folder, sources) {
			kinds = append(kinds, d.Category)
		}
		if m.kind != "" {
			caught++
		}
		if m.kind == "" && kinds != nil || m.kind != "" && !slices.Contains(kinds, m.kind) {
			t.Errorf("%s: the findings are %q, want %q", m.name, kinds, m.kind)
		}
	}
	t.Logf("the analyser tells of %d of %d mutations, and leaves %d to the replay check", caught, len(mutations), len(mutations)-caught)
}

// apply makes the mistake.
func (m mutation) apply(t *testing.T, source string) string {
	t.Helper()
	if n := strings.Count(source, m.old); n != 1 {
		t.Fatalf("%s: %s has %d times %q, want once", m.name, m.file, n, m.old)
	}
	text, behind, _ := strings.Cut(m.new, "@end ")
	return strings.Replace(source, m.old, text, 1) + "\n" + behind + "\n"
}

// example are the files of an example, without tests.
func example(t *testing.T, name string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "examples", name, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of the example %s: %v", name, err)
	}
	sources := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[filepath.Base(file)] = string(text)
	}
	return sources
}
