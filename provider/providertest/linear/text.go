package linear

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// eventsOf are events with their JSON.
func eventsOf(events []provider.Event) []event {
	list := make([]event, 0, len(events))
	for _, e := range events {
		text, err := provider.EncodeEvent(e)
		if err != nil {
			text = []byte(err.Error())
		}
		list = append(list, event{e.EventID, string(text)})
	}
	return list
}

// itemsOf is the JSON of items.
func itemsOf(items []provider.WorkItem) []string {
	list := make([]string, 0, len(items))
	for _, item := range items {
		list = append(list, itemOf(item))
	}
	return list
}

func itemOf(item provider.WorkItem) string {
	if item == nil {
		return ""
	}
	text, err := provider.EncodeWorkItem(item)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// eventsText tells events by their ids and kinds.
func eventsText(events []event) string {
	if len(events) == 0 {
		return "no events"
	}
	kinds := make([]string, 0, len(events))
	for _, e := range events {
		decoded, err := provider.DecodeEvent([]byte(e.text))
		if err != nil {
			kinds = append(kinds, e.text)
			continue
		}
		kinds = append(kinds, strings.TrimSpace(fmt.Sprintf("%d %s %s", e.id, decoded.Kind.Type(), says(decoded.Kind))))
	}
	return "[" + strings.Join(kinds, ", ") + "]"
}

// says is what tells an event from others of its kind.
func says(kind provider.EventKind) string {
	switch k := kind.(type) {
	case provider.KeyValueSet:
		return k.Key + "=" + k.Value
	case provider.KeyValueCleared:
		return k.Key
	case provider.CustomStatusUpdated:
		return textOf(k.Status)
	case provider.ExternalEvent:
		return k.Data
	}
	return ""
}

// messagesText tells messages by their variants, instances and what they carry.
func messagesText(texts []string) string {
	list := make([]string, 0, len(texts))
	for _, text := range texts {
		item, err := provider.DecodeWorkItem([]byte(text))
		if err != nil {
			list = append(list, text)
			continue
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", item.Variant(), item.Target(), carries(item))))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// carries is what tells an item from others of its sort.
func carries(item provider.WorkItem) string {
	switch k := item.(type) {
	case provider.StartOrchestrationItem:
		return k.Input
	case provider.ContinueAsNewItem:
		return k.Input
	case provider.ExternalRaisedItem:
		return k.Name + "=" + k.Data
	case provider.ActivityExecuteItem:
		return fmt.Sprintf("%d/%d", k.ExecutionID, k.ID)
	case provider.ActivityCompletedItem:
		return fmt.Sprintf("%d/%d", k.ExecutionID, k.ID)
	}
	return ""
}

// short is the beginning of a token.
func short(token string) string {
	if len(token) > len("12345678") {
		return token[:len("12345678")]
	}
	return token
}
