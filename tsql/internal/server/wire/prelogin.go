package wire

import "encoding/binary"

// The options of a PRELOGIN that the server looks at or answers.
const (
	preloginVersion    = 0x00
	preloginEncryption = 0x01
	preloginInstance   = 0x02
	preloginThread     = 0x03
	preloginMARS       = 0x04
	preloginFederated  = 0x06
	preloginEnd        = 0xFF
)

// What a PRELOGIN says of encryption.
const (
	encryptLogin       = 0 // only the login has to be
	encryptAll         = 1
	encryptUnsupported = 2
	encryptRequired    = 3
)

// parsePrelogin reads the options of a PRELOGIN: each has a number, an offset and a length.
func parsePrelogin(payload []byte) (map[byte][]byte, error) {
	options := map[byte][]byte{}
	for c := newCursor(payload); ; {
		option := c.byte()
		if option == preloginEnd && c.err == nil {
			return options, nil
		}
		place := c.take(4)
		if c.err != nil {
			return nil, c.err
		}
		at, size := int(binary.BigEndian.Uint16(place)), int(binary.BigEndian.Uint16(place[2:]))
		if at+size > len(payload) {
			return nil, malformed("option %d of a prelogin lies outside of it", option)
		}
		options[option] = payload[at : at+size]
	}
}

// negotiate says what to answer a client that says asked of encryption, and what happens: nothing is encrypted, the
// first packet of the login, or everything. refuse says that the client cannot do what the server insists on.
func negotiate(server Encryption, asked byte) (answer byte, loginOnly, all, refuse bool) {
	switch {
	case server == EncryptNever:
		return encryptUnsupported, false, false, false // the client decides whether it leaves
	case asked == encryptUnsupported && server == EncryptAlways:
		return encryptRequired, false, false, true
	case asked == encryptUnsupported:
		return encryptUnsupported, false, false, false
	case asked == encryptLogin && server == EncryptAlways:
		return encryptRequired, false, true, false
	case asked == encryptLogin:
		return encryptLogin, true, false, false
	default:
		return encryptAll, false, true, false
	}
}

// appendPrelogin writes the answer to a PRELOGIN.
func appendPrelogin(dst []byte, v Version, encryption byte, asked map[byte][]byte) []byte {
	type option struct {
		number byte
		data   []byte
	}
	options := []option{
		{preloginVersion, []byte{v.Major, v.Minor, byte(v.Build >> 8), byte(v.Build), 0, 0}},
		{preloginEncryption, []byte{encryption}},
		{preloginInstance, []byte{0}}, // whatever instance the client means, it is here
		{preloginThread, nil},
		{preloginMARS, []byte{0}},
	}
	if _, ok := asked[preloginFederated]; ok {
		options = append(options, option{preloginFederated, []byte{0}})
	}
	const entry = 5
	at := entry*len(options) + 1
	for _, o := range options {
		dst = binary.BigEndian.AppendUint16(append(dst, o.number), uint16(at))
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(o.data)))
		at += len(o.data)
	}
	dst = append(dst, preloginEnd)
	for _, o := range options {
		dst = append(dst, o.data...)
	}
	return dst
}
