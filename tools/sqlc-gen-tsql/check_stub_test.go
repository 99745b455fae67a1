package main

func checkTypes(map[string][]byte) error { return nil }
