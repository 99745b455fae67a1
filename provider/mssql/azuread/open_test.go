package azuread_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/azuread"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// What cannot work is refused before anything is sent, and quotes no secret.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]string{
		"an unknown workflow":  "sqlserver://h?database=d&fedauth=NoSuchWorkflow",
		"a missing parameter":  "sqlserver://u:s3cret@h?database=d&fedauth=ActiveDirectoryPassword",
		"no connection string": "",
	} {
		store, err := azuread.Open(t.Context(), dsn, mssql.Options{})
		if store != nil || !errors.Is(err, provider.ErrInvalidArgument) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, %v; want %v", name, store, err, provider.ErrInvalidArgument)
		}
	}
}

// A connection string that asks for Entra ID gets as far as the server.
func TestOpenConnects(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	dsn := "sqlserver://" + l.Addr().String() + "?database=d&fedauth=ActiveDirectoryManagedIdentity"
	if _, err := azuread.Open(t.Context(), dsn, mssql.Options{}); !errors.Is(err, mssql.ErrUnreachable) || !provider.IsRetryable(err) {
		t.Errorf("error %v; want a retryable %v", err, mssql.ErrUnreachable)
	}
}

// A token that cannot be had leaves the server unreached. What was answered instead of it is in the error, on one line.
func TestOpenWithoutAToken(t *testing.T) {
	refused := 0
	identities := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refused++
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "{\n \"error\": \"no identity\"\n}")
	}))
	defer identities.Close()
	defer http.DefaultClient.CloseIdleConnections()
	t.Setenv("IDENTITY_ENDPOINT", identities.URL)
	t.Setenv("IDENTITY_HEADER", "s3cret")
	addr := serve(t, prelogin(), fedAuthInfo())
	_, err := azuread.Open(t.Context(), "sqlserver://"+addr+"?database=d&encrypt=disable&fedauth=ActiveDirectoryManagedIdentity", mssql.Options{})
	if refused == 0 {
		t.Error("nobody asked for a token")
	}
	refuses(t, err, mssql.ErrUnreachable, true)
}

// A token that the server refuses is a login that failed.
func TestOpenWithARefusedToken(t *testing.T) {
	t.Parallel()
	addr := serve(t, prelogin(), loginFailed())
	_, err := azuread.Open(t.Context(),
		"sqlserver://:s3cret@"+addr+"?database=d&encrypt=disable&fedauth=ActiveDirectoryServicePrincipalAccessToken", mssql.Options{})
	refuses(t, err, mssql.ErrLogin, false)
}

// refuses checks the error of opening.
func refuses(t *testing.T, err, sentinel error, retryable bool) {
	t.Helper()
	got, ok := errors.AsType[*provider.Error](err)
	if !ok || !errors.Is(err, sentinel) || got.Retryable != retryable || got.Operation != "open" {
		t.Errorf("error %v; want %v, retryable: %v", err, sentinel, retryable)
		return
	}
	if strings.Contains(got.Message, "\n") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %q; want one line, without secrets", err)
	}
}

// serve is a server that answers the first messages of each connection with these, and then waits for the client to end
// it.
func serve(t *testing.T, answers ...[]byte) (addr string) {
	t.Helper()
	return mssqltest.Listen(t, func(conn net.Conn) { converse(conn, answers) })
}

// converse answers each message of the client, which may be of several packets.
func converse(conn net.Conn, answers [][]byte) {
	defer conn.Close()
	header := make([]byte, 8)
	for {
		if _, err := io.ReadFull(conn, header); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint16(header[2:]))-8); err != nil {
			return
		}
		if last := header[1]&1 != 0; last && len(answers) > 0 {
			if _, err := conn.Write(answers[0]); err != nil {
				return
			}
			answers = answers[1:]
		}
	}
}

// answer is the payload in a packet of the server (MS-TDS 2.2.3).
func answer(payload []byte) []byte {
	packet := []byte{4, 1, 0, 0, 0, 0, 1, 0}
	binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)+len(payload)))
	return append(packet, payload...)
}

// prelogin says that the server knows no encryption and takes tokens (2.2.6.5).
func prelogin() []byte {
	const encryption, fedAuthRequired, end = 1, 6, 0xFF
	const offset = 2*5 + 1
	return answer([]byte{encryption, 0, offset, 0, 1, fedAuthRequired, 0, offset + 1, 0, 1, end, 2, 1})
}

// fedAuthInfo says where to get a token, and what for (2.2.7.12).
func fedAuthInfo() []byte {
	authority, service := ucs2("https://login.example.net/tenant"), ucs2("https://database.example.net/")
	const options = 4 + 2*9
	info := binary.LittleEndian.AppendUint32(nil, 2)
	for i, data := range [][]byte{authority, service} {
		info = append(info, byte(i+1))
		info = binary.LittleEndian.AppendUint32(info, uint32(len(data)))
		info = binary.LittleEndian.AppendUint32(info, uint32(options+i*len(authority)))
	}
	info = append(append(info, authority...), service...)
	token := binary.LittleEndian.AppendUint32([]byte{0xEE}, uint32(len(info)))
	return answer(append(token, info...))
}

// loginFailed is the error of a login, and the end of the answer (2.2.7.10, 2.2.7.6).
func loginFailed() []byte {
	message := ucs2("Login failed for user '<token-identified principal>'.")
	e := binary.LittleEndian.AppendUint32(nil, 18456)
	e = append(e, 1, 14) // state and class
	e = binary.LittleEndian.AppendUint16(e, uint16(len(message)/2))
	e = append(e, message...)
	e = append(e, 0, 0, 0, 0, 0, 0) // no names of server and procedure, and the line
	const errorToken, doneToken = 0xAA, 0xFD
	token := binary.LittleEndian.AppendUint16([]byte{errorToken}, uint16(len(e)))
	token = append(token, e...)
	return answer(append(token, doneToken, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}

func ucs2(text string) (bytes []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		bytes = binary.LittleEndian.AppendUint16(bytes, unit)
	}
	return bytes
}
