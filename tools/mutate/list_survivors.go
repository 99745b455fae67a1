package main

// survivors are mutants that nothing finds, by name, and why.
var survivors = map[string]string{}
