package value

import (
	"regexp"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

// collationElsewhere matches the collations that SQL Server has and this server has not: languages that CollationByName
// does not know, and what differs.
var collationElsewhere = regexp.MustCompile(`(?i)^(Albanian|Arabic|Assamese|Azeri_Cyrillic|Azeri_Latin|Bashkir|Bengali|` +
	`Bosnian_Cyrillic|Bosnian_Latin|Breton|Chinese_\w+?|Corsican|Croatian|Dari|Divehi|Frisian|Georgian_Modern_Sort|` +
	`Hungarian_Technical|Indic_General|Japanese|Japanese_Bushu_Kakusu|Japanese_Unicode|Japanese_XJIS|Kazakh|Khmer|Korean|` +
	`Korean_Wansung|Lao|Macedonian_FYROM|Maltese|Maori|Mapudungan|Mohawk|Nepali|Norwegian|Pashto|Persian|Romansh|` +
	`Sami_Norway|Sami_Sweden_Finland|Serbian_Cyrillic|Serbian_Latin|Syriac|Tamazight|Tatar|Tibetan|Turkmen|Uighur|` +
	`Upper_Sorbian|Urdu|Uzbek_Latin|Welsh|Yakut|SQL_(1xCompat|AltDiction|AltDiction2|Croatian|Czech|Danish_Pref|EBCDIC\w+?|` +
	`Estonian|Hungarian|Icelandic_Pref|Latin1_General_Pref|Latvian|Lithuanian|MixDiction|Polish|Romanian|Scandinavian|` +
	`Scandinavian_Pref|Slovak|Slovenian|SwedishPhone_Pref|SwedishStd_Pref|Ukrainian)_CP\d+)` +
	`(_90|_100|_140)?(_BIN2?|_C[IS]_A[IS](_KS)?(_WS)?(_VSS)?(_SC)?)(_UTF8)?$`)

// UnknownCollation is the error for a name that CollationByName does not find.
func UnknownCollation(name string) error {
	if collationElsewhere.MatchString(name) {
		return fault.New(fault.Unsupported, "the collation "+name+" is not supported by tsqltest")
	}
	return fault.New(448, name)
}

// UnknownType is the error for a name that is of no type: the given one, unless a server after 2022 has the type.
func UnknownType(name string, unknown *fault.Error) error {
	switch strings.ToUpper(name) {
	case "JSON", "VECTOR":
		return fault.New(fault.Unsupported, "the type "+name+" is not supported by tsqltest")
	}
	return unknown
}

// OfCollection is the error for xml (collection): documents are not checked against schemas here.
func OfCollection() error {
	return fault.New(fault.Unsupported, "xml with a schema collection is not supported by tsqltest")
}
