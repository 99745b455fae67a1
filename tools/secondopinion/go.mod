module github.com/duroxide/duroxide-go/tools/secondopinion

go 1.26.0

require (
	github.com/duroxide/duroxide-go v0.0.0-00010101000000-000000000000
	github.com/sqlc-dev/teesql v1.1.0
)

// Nobody installs this module, so that it may take the parser from the tree that it stands in.
replace github.com/duroxide/duroxide-go => ../..
