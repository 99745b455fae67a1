package xmltext

import (
	"strings"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

// The errors of parsing. Each tells line and character.
const (
	unexpectedEnd     int32 = 9400
	otherEncoding     int32 = 9402
	wantSpace         int32 = 9410
	wantSemicolon     int32 = 9411
	wantGreater       int32 = 9412
	wantString        int32 = 9413
	wantEqual         int32 = 9414
	lessInAttribute   int32 = 9415
	wantHexadecimal   int32 = 9416
	wantDecimal       int32 = 9417
	illegalCharacter  int32 = 9420
	illegalName       int32 = 9421
	wrongDocument     int32 = 9422
	wrongComment      int32 = 9424
	wrongEnd          int32 = 9436
	twiceAttribute    int32 = 9437
	lateDeclaration   int32 = 9438
	wrongDeclaration  int32 = 9441
	undeclaredEntity  int32 = 9448
	illegalQualified  int32 = 9455
	undeclaredPrefix  int32 = 9459
	internalSubset    int32 = 6359
	tooDeep           int32 = 6335
	maxDepth                = 128
	instructionTarget       = "xml"
)

// fail ends parsing with an error at the character that begins at a byte; at the end of the text that is its last one.
func (p *parser) fail(number int32, at int) {
	if number == unexpectedEnd {
		_, size := utf8.DecodeLastRuneInString(p.text)
		at = max(len(p.text)-size, 0)
	}
	before := p.text[:min(at, len(p.text))]
	line := 1 + strings.Count(before, "\n")
	begin := strings.LastIndexByte(before, '\n') + 1
	character := 1
	for _, r := range before[begin:] {
		character++
		if r > 0xFFFF {
			character++
		}
	}
	panic(failure{fault.New(number, line, character)})
}

// refuse ends parsing with an error that tells no place.
func (p *parser) refuse(number int32, args ...any) { panic(failure{fault.New(number, args...)}) }

// failure is what parsing ends with.
type failure struct{ fault *fault.Error }
