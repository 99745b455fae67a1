package duroxidevet

import (
	"go/types"
	"slices"
	"strings"
)

// rule is what a function or a variable of a package does.
type rule struct {
	kind, does, instead string
	weak, direct        bool
}

var (
	clock = &rule{kind: "clock", does: "reads the clock, which shows another time in a replay", instead: "use ctx.UTCNow()"}
	sleep = &rule{kind: "clock", does: "waits without a record", instead: "use ctx.Sleep(d)"}
	timer = &rule{kind: "clock", does: "starts a timer without a record", instead: "use ctx.Timer(d)"}
	limit = &rule{kind: "clock", does: "ends by the clock", instead: "use orchestration.WithTimeout for a call, or orchestration.SelectAndDrop with ctx.Timer"}

	random = &rule{kind: "random", does: "is random, and a replay draws something else", instead: "use ctx.NewGUID(), or draw it in an activity"}
	guid   = &rule{kind: "random", does: "is another id each time", instead: "use ctx.NewGUID()"}

	lock     = &rule{kind: "lock", does: "may block on another goroutine", instead: "leave it out: only one block of an orchestration runs at a time", weak: true}
	once     = &rule{kind: "lock", does: "runs once in a process, and not again in a replay", instead: "compute it each time, or in an activity", weak: true, direct: true}
	group    = &rule{kind: "lock", does: "may block on another goroutine", instead: "use orchestration.WaitGroup", weak: true}
	parallel = &rule{kind: "goroutine", does: "starts a goroutine, whose order no replay repeats", instead: "use orchestration.Go or orchestration.Map", weak: true}

	system  = &rule{kind: "io", does: "does I/O, which a replay repeats", instead: "do it in an activity"}
	remote  = &rule{kind: "io", does: "asks a store from inside an orchestration", instead: "use orchestration.SubOrchestration or orchestration.Detach, or an activity"}
	printer = &rule{kind: "io", does: "writes again in every replay", instead: "use ctx.Logger(nil)"}

	machine = &rule{kind: "runtime", does: "differs between processes", instead: "pass it as input, or ask for it in an activity"}
	ends    = &rule{kind: "runtime", does: "ends the process or its goroutine", instead: "return an error"}

	// unordered is looked at by mapOrder, which knows where an order does no harm.
	unordered = &rule{kind: "maporder", does: "has another order each time", instead: "use slices.Sorted(maps.Keys(m))", weak: true}
)

// library functions by package and name. A name is "Func", "Var", "Type.Method" or "Type.*"; "*" is every function that
// the package has beside those with a nil rule. Methods are found only under their types.
var known = map[string]map[string]*rule{
	"time": rules(clock, "Now Since Until", sleep, "Sleep", timer, "After AfterFunc NewTimer NewTicker Tick Timer.* Ticker.*",
		machine, "Local Time.Local", system, "LoadLocation"),
	"context":      rules(limit, "WithTimeout WithTimeoutCause WithDeadline WithDeadlineCause", parallel, "AfterFunc"),
	"math/rand":    rules(random, "*", nil, "New NewSource NewZipf"),
	"math/rand/v2": rules(random, "*", nil, "New NewPCG NewChaCha8 NewZipf"),
	"crypto/rand":  rules(random, "* Reader"),
	"hash/maphash": rules(random, "* Hash.*"),

	"os": rules(system, "* Stdin Stdout Stderr File.* Root.* Process.*", machine, "Args Hostname Getpid Getppid Executable Getwd Environ Getenv LookupEnv ExpandEnv",
		ends, "Exit", nil, "IsExist IsNotExist IsPermission IsTimeout IsPathSeparator Expand NewSyscallError SameFile"),
	"os/exec":       rules(system, "* Cmd.*"),
	"os/signal":     rules(system, "*"),
	"os/user":       rules(machine, "* User.*"),
	"io/ioutil":     rules(system, "*", nil, "ReadAll NopCloser"),
	"path/filepath": rules(system, "Abs EvalSymlinks Glob Walk WalkDir"),
	"syscall":       rules(system, "*"),
	"net":           rules(system, dials+" Conn.* Dialer.* Resolver.* Listener.* PacketConn.* TCPConn.* UDPConn.* UnixConn.* IPConn.* TCPListener.* UnixListener.* ListenConfig.*"),
	"net/http":      rules(system, "Get Head Post PostForm ListenAndServe ListenAndServeTLS Serve ServeTLS DefaultClient DefaultTransport Client.* Server.* Transport.* RoundTripper.*"),
	"net/smtp":      rules(system, "SendMail Dial NewClient Client.*"),
	"net/rpc":       rules(system, "Dial DialHTTP DialHTTPPath Client.*"),
	"crypto/tls":    rules(system, "Dial DialWithDialer Listen Dialer.* Conn.*"),
	"database/sql":  rules(system, "Open OpenDB DB.* Tx.* Conn.* Stmt.* Rows.* Row.*"),
	"fmt":           rules(printer, "Print Printf Println", system, "Scan Scanf Scanln"),
	"log":           rules(printer, "*", nil, "New", printer, "Logger.*", ends, "Fatal Fatalf Fatalln Logger.Fatal Logger.Fatalf Logger.Fatalln"),
	"log/slog":      rules(printer, "Debug DebugContext Info InfoContext Warn WarnContext Error ErrorContext Log LogAttrs"),
	"runtime":       rules(machine, "NumCPU NumGoroutine GOMAXPROCS NumCgoCall ReadMemStats Stack GOROOT Version Caller Callers", ends, "Goexit", lock, "Gosched"),
	"runtime/debug": rules(machine, "ReadBuildInfo Stack"),
	"sync":          rules(lock, "Mutex.Lock Mutex.TryLock RWMutex.Lock RWMutex.TryLock RWMutex.RLock RWMutex.TryRLock Locker.Lock Cond.Wait", group, "WaitGroup.Wait", parallel, "WaitGroup.Go", once, "Once.Do OnceFunc OnceValue OnceValues Pool.Get"),
	"reflect":       rules(unordered, "Value.MapRange Value.MapKeys", lock, "Select Value.Recv Value.Send Value.TryRecv Value.TrySend"),
	"maps":          rules(unordered, "Keys Values All"),

	"golang.org/x/sync/errgroup":     rules(parallel, "Group.Go Group.TryGo", lock, "Group.Wait"),
	"golang.org/x/sync/semaphore":    rules(lock, "Weighted.Acquire Weighted.TryAcquire"),
	"golang.org/x/sync/singleflight": rules(lock, "Group.Do Group.DoChan"),
	"golang.org/x/exp/rand":          rules(random, "*", nil, "New NewSource NewZipf"),
	"github.com/google/uuid":         rules(guid, "New NewString NewRandom NewUUID NewV6 NewV7 NewDCEGroup NewDCEPerson NewDCESecurity", machine, "NodeID NodeInterface"),
	"github.com/gofrs/uuid":          rules(guid, "NewV1 NewV4 NewV6 NewV7"),
	"github.com/gofrs/uuid/v5":       rules(guid, "NewV1 NewV4 NewV6 NewV7"),
	"github.com/rs/xid":              rules(guid, "New"),
	"github.com/segmentio/ksuid":     rules(guid, "New NewRandom"),
	"github.com/oklog/ulid/v2":       rules(guid, "Make MustNewDefault", clock, "Now"),

	library + "/client": rules(remote, "Start RaiseEvent Enqueue Value WaitForValue Client.* Run.*"),
	library + "/worker": rules(remote, "Worker.*"),
}

const dials = "Dial DialTimeout DialTCP DialUDP DialIP DialUnix Listen ListenTCP ListenUDP ListenIP ListenUnix ListenPacket ListenMulticastUDP " +
	"ListenUnixgram FileConn FileListener Interfaces InterfaceAddrs InterfaceByIndex InterfaceByName LookupAddr LookupCNAME LookupHost LookupIP " +
	"LookupMX LookupNS LookupPort LookupSRV LookupTXT ResolveTCPAddr ResolveUDPAddr ResolveIPAddr ResolveUnixAddr DefaultResolver"

// rules makes the table of a package from pairs of a rule and names.
func rules(pairs ...any) map[string]*rule {
	table := map[string]*rule{}
	for pair := range slices.Chunk(pairs, 2) {
		r, _ := pair[0].(*rule)
		names, _ := pair[1].(string)
		for name := range strings.FieldsSeq(names) {
			table[name] = r
		}
	}
	return table
}

// ruleFor returns what the tables say of a function or a variable, nil if nothing.
func ruleFor(obj types.Object) *rule {
	if obj.Pkg() == nil {
		return nil
	}
	table := known[obj.Pkg().Path()]
	if table == nil {
		return nil
	}
	if typ := receiver(obj); typ != "" {
		if r, ok := table[typ+"."+obj.Name()]; ok {
			return r
		}
		return table[typ+".*"]
	}
	if r, ok := table[obj.Name()]; ok {
		return r
	}
	if f, ok := obj.(*types.Func); ok && f.Signature().Recv() == nil && f.Exported() {
		return table["*"]
	}
	return nil
}

// receiver is the name of a method's type, empty for all else.
func receiver(obj types.Object) string {
	f, ok := obj.(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return ""
	}
	if named := namedOf(f.Signature().Recv().Type()); named != nil {
		return named.Obj().Name()
	}
	return ""
}

// namedOf is the named type behind a pointer, nil if there is none.
func namedOf(t types.Type) *types.Named {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	return named
}

// isNamed reports whether a type, or what it points to, is that one of package orchestration.
func isNamed(t types.Type, name string) bool { return isOf(t, orchestration, name) }

// isOf reports whether a type, or what it points to, is that one of a package.
func isOf(t types.Type, pkg, name string) bool {
	named := namedOf(t)
	return named != nil && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == pkg && named.Obj().Name() == name
}

// isContext reports whether a type is *orchestration.Context.
func isContext(t types.Type) bool { return t != nil && isNamed(t, "Context") }

// takesContext reports whether a function has a parameter of type *orchestration.Context.
func takesContext(sig *types.Signature) bool { return takes(sig, isContext) }

// takes reports whether a function's receiver or one of its parameters has such a type.
func takes(sig *types.Signature, such func(types.Type) bool) bool {
	if r := sig.Recv(); r != nil && such(r.Type()) {
		return true
	}
	for p := range sig.Params().Variables() {
		if such(p.Type()) {
			return true
		}
	}
	return false
}

// quiet are the functions of package orchestration that take a context or a future and record nothing.
var quiet = map[string]bool{
	"Context.Info": true, "Context.Replaying": true, "Context.Logger": true, "Context.CustomStatus": true,
	"Context.Err": true, "Context.Detached": true, "Future.Ready": true, "Context.KV": true, "Key.Get": true,
	"NewChannel": true,
}

// inside are those that wait or record through a context that their receiver holds.
var inside = map[string]bool{
	"Channel.Send": true, "Channel.Receive": true, "Channel.All": true, "WaitGroup.Wait": true, "KV.Clear": true, "KV.Prune": true,
}

// recorded reports whether a function of package orchestration asks for something through the context.
func recorded(obj types.Object) bool {
	f, ok := obj.(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != orchestration {
		return false
	}
	name := f.Name()
	if typ := receiver(f); typ != "" {
		name = typ + "." + name
	}
	return !quiet[name] && (inside[name] || takesContext(f.Signature()) || awaits(f.Signature()))
}

// awaits reports whether a function of package orchestration works on futures.
func awaits(sig *types.Signature) bool {
	return takes(sig, func(t types.Type) bool {
		if list, ok := t.(*types.Slice); ok {
			t = list.Elem()
		}
		return isNamed(t, "Future") || isNamed(t, "Awaitable")
	})
}
