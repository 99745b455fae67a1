package providertest

// Categories not yet written. Each file that defines one removes its line here.
func atomicity() category           { return category{name: "atomicity"} }
func errorHandling() category       { return category{name: "error handling"} }
func instanceCreation() category    { return category{name: "instance creation"} }
func instanceLocking() category     { return category{name: "instance locking"} }
func lockExpiration() category      { return category{name: "lock expiration"} }
func multiExecution() category      { return category{name: "multi execution"} }
func queueSemantics() category      { return category{name: "queue semantics"} }
func longPolling() category         { return category{name: "long polling"} }
func poisonMessage() category       { return category{name: "poison message"} }
func moreFetching() category        { return category{name: "more fetching"} }
func moreAcking() category          { return category{name: "more acking"} }
func morePayloads() category        { return category{name: "more payloads"} }
func moreConcurrency() category     { return category{name: "more concurrency"} }
func bulkDeletion() category        { return category{name: "bulk deletion"} }
func cancellation() category        { return category{name: "cancellation"} }
func capabilityFiltering() category { return category{name: "capability filtering"} }
func customStatus() category        { return category{name: "custom status"} }
func deletion() category            { return category{name: "deletion"} }
func management() category          { return category{name: "management"} }
func prune() category               { return category{name: "prune"} }
func moreManagement() category      { return category{name: "more management"} }
func moreStats() category           { return category{name: "more stats"} }
func kvStore() category             { return category{name: "kv store"} }
func sessions() category            { return category{name: "sessions"} }
func tagFiltering() category        { return category{name: "tag filtering"} }
func moreKV() category              { return category{name: "more kv"} }
func moreSessions() category        { return category{name: "more sessions"} }
func moreTags() category            { return category{name: "more tags"} }
