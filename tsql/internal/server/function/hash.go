package function

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"  //nolint:gosec // HASHBYTES has it
	"crypto/sha1" //nolint:gosec // HASHBYTES has it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"io"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

var hashFunctions = map[string]binder{
	"HASHBYTES":        bindHashBytes,
	"CRYPT_GEN_RANDOM": bindGenRandom,
	"COMPRESS":         bindCompress,
	"DECOMPRESS":       bindDecompress,
}

// hashes are the algorithms of HASHBYTES. MD2 and MD4, which nobody should use, are not among them: they are NULL, as
// an unknown one is.
var hashes = map[string]func([]byte) []byte{
	"MD5":      func(b []byte) []byte { h := md5.Sum(b); return h[:] },  //nolint:gosec // what the author asks for
	"SHA":      func(b []byte) []byte { h := sha1.Sum(b); return h[:] }, //nolint:gosec // what the author asks for
	"SHA1":     func(b []byte) []byte { h := sha1.Sum(b); return h[:] }, //nolint:gosec // what the author asks for
	"SHA2_256": func(b []byte) []byte { h := sha256.Sum256(b); return h[:] },
	"SHA2_512": func(b []byte) []byte { h := sha512.Sum512(b); return h[:] },
}

func bindHashBytes(c *bindCall) (*Bound, error) {
	t := c.converted(1, c.textOrBytes(1))
	if name, ok := c.args[0].literalText(); ok {
		if upper := strings.ToUpper(name); upper == "MD2" || upper == "MD4" {
			return nil, unsupported("HASHBYTES with %s", upper)
		}
	}
	return simple(func(args []value.Value) (value.Value, error) {
		hash, ok := hashes[strings.ToUpper(strings.TrimSpace(args[0].Str()))]
		if !ok {
			return value.Value{}, nil
		}
		return value.OfBytes(hash(contentOf(args[1], t))), nil
	}, typeSysname, c.textOrBytes(1)), nil
}

// bindGenRandom takes its bytes from the server's source. The second argument, a seed that is mixed in, may change them
// or not.
func bindGenRandom(*bindCall) (*Bound, error) {
	return &Bound{Args: []value.Type{typeBigInt}, Eval: func(env Environment, args []value.Value) (value.Value, error) {
		if args[0].IsNull() {
			return value.Value{}, nil
		}
		n := args[0].Int()
		if n < 1 || n > 8000 {
			return value.Value{}, fault.New(1023, n, "crypt_gen_random")
		}
		b := make([]byte, 0, n+8)
		for int64(len(b)) < n {
			b = binary.LittleEndian.AppendUint64(b, env.Random())
		}
		return value.OfBytes(b[:n]), nil
	}}, nil
}

// bindCompress is COMPRESS, which writes GZIP.
func bindCompress(c *bindCall) (*Bound, error) {
	to := c.textOrBytes(0)
	t := c.converted(0, to)
	return simple(func(args []value.Value) (value.Value, error) {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if _, err := w.Write(contentOf(args[0], t)); err != nil {
			return value.Value{}, err
		}
		if err := w.Close(); err != nil {
			return value.Value{}, err
		}
		return value.OfBytes(out.Bytes()), nil
	}, to), nil
}

func bindDecompress(c *bindCall) (*Bound, error) {
	if !c.args[0].Type.IsBinary() {
		return nil, fault.New(8116, c.args[0].Type.Type.Kind, 1, "decompress")
	}
	return simple(func(args []value.Value) (value.Value, error) {
		broken := fault.New(fault.Unsupported, "DECOMPRESS was given bytes that are no GZIP")
		r, err := gzip.NewReader(strings.NewReader(args[0].Str()))
		if err != nil {
			return value.Value{}, broken
		}
		b, err := io.ReadAll(io.LimitReader(r, value.MaxBytes+1))
		if err != nil {
			return value.Value{}, broken
		}
		if err := value.CheckSize(int64(len(b))); err != nil {
			return value.Value{}, err
		}
		return value.OfBytes(b), nil
	}), nil
}
