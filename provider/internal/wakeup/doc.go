// Package wakeup lets fetches that have found nothing wait for something to do, and
// clients wait for an instance, without asking the database again and again. It knows
// neither a database nor what is fetched: a store says when there may be something.
//
// A [List] is the waiting fetches of one queue, [Poll] is one fetch that waits in it,
// and [Changes] are the clients that wait for instances.
package wakeup
