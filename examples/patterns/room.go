package patterns

import "github.com/duroxide/duroxide-go/orchestration"

// Line is what somebody says in a Room.
type Line struct{ From, Text string }

// Said brings lines, in their order and none of them twice; Left is who leaves, and Talk what
// was said last, for those who come late.
var (
	Said = orchestration.NewQueue[Line]("said")
	Left = orchestration.NewQueue[string]("left")
	Talk = orchestration.NewKey[[]Line]("talk")
)

// Room is a conversation. It ends when all have left, and returns how many lines there were.
var Room = orchestration.New("Room", func(ctx *orchestration.Context, people []string) (int, error) {
	var talk []Line
	lines, present := 0, len(people)
	line, left := Said.Dequeue(ctx), Left.Dequeue(ctx)
	for present > 0 {
		switch orchestration.WaitAny(line, left) {
		case 0:
			said, err := line.Await()
			if err != nil {
				return lines, err
			}
			lines++
			talk = append(talk, said)
			Talk.Set(ctx, talk[max(0, len(talk)-20):])
			line = Said.Dequeue(ctx)
		case 1:
			if _, err := left.Await(); err != nil {
				return lines, err
			}
			present--
			left = Left.Dequeue(ctx)
		}
	}
	return lines, nil
})
