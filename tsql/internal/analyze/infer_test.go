package analyze

import "testing"

// TestInference finds the parameters of annotated queries.
func TestInference(t *testing.T) {
	t.Parallel()
	for _, c := range inferenceCases {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			if got := flat(inferredColumns(t, c.text, c.given, c.nulls)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// inferenceCases say which parameters a query has, before what columns says. Given are the types of gen:param, as in a
// DECLARE, and nulls the names of gen:null.
var inferenceCases = []struct{ text, given, nulls, want string }{
	{`SELECT customer FROM dbo.orders WHERE id = @id`, "", "", `@id bigint; optional; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE @id = id`, "", "", `@id bigint; optional; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE customer = @c AND id > @after`, "", "", `@c nvarchar(50); @after bigint; many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE customer LIKE @c`, "", "", `@c nvarchar(4000); many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE id IN (@a, @b, 3)`, "", "", `@a bigint; @b bigint; many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE id BETWEEN @lo AND @hi`, "", "", `@lo bigint; @hi bigint; many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE @x BETWEEN 1 AND id`, "", "", `@x bigint; many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE @id IN (SELECT order_id FROM dbo.lines)`, "", "", `@id bigint; many; customer nvarchar(50)`},
	{`SELECT TOP (@n) customer FROM dbo.orders ORDER BY id`, "", "", `@n bigint; many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders ORDER BY id OFFSET @skip ROWS FETCH NEXT @n ROWS ONLY`, "", "", `@skip bigint; @n bigint; many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE customer LIKE N'%' + @c + N'%'`, "", "", `@c nvarchar(4000); many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE @c LIKE customer`, "", "", `@c nvarchar(max); many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE total + @x > 5`, "", "", `@x unknown; many; customer nvarchar(50); 1:47 type: nothing here says what type @x has | add -- gen:param @x <type>`},
	{`SELECT customer FROM dbo.orders WHERE id + @x > 5`, "", "", `@x bigint; many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE customer = @c + N'x'`, "", "", `@c unknown; many; customer nvarchar(50); 1:50 type: nothing here says what type @c has | add -- gen:param @c <type>`},
	{`SELECT customer, @c AS c FROM dbo.orders WHERE customer = @c`, "", "", `@c nvarchar(50); many; customer nvarchar(50); c nvarchar(50)`},
	{`SELECT customer, @c AS c FROM dbo.orders WHERE customer = @c`, "", `@c`, `@c nvarchar(50) null; many; customer nvarchar(50); c nvarchar(50) null`},
	{`SELECT CAST(@x AS date) AS x`, "", "", `@x date; one; x date`},
	{`SELECT TRY_CAST(@x AS date) AS x`, "", "", `@x date; one; x date null`},
	{`SELECT @x AS x`, "", "", `@x unknown; one; x unknown; 1:8 type: nothing here says what type @x has | add -- gen:param @x <type>`},
	{`SELECT @x AS x`, `@x datetime2(3)`, "", `@x datetime2(3); one; x datetime2(3)`},
	{`SELECT @x AS x`, `@x datetime2(3)`, `@x`, `@x datetime2(3) null; one; x datetime2(3) null`},
	{`SELECT customer FROM dbo.orders WHERE id = @x AND total = @x`, "", "", `@x unknown; many; customer nvarchar(50); 1:51 type: @x is decimal(10,2) here and bigint in line 1, column 39 | say which: -- gen:param @x bigint`},
	{`SELECT customer FROM dbo.orders WHERE id = @x AND total = @x`, `@x bigint`, "", `@x bigint; optional; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE customer = @x AND note = @x`, "", "", `@x unknown; many; customer nvarchar(50); 1:57 type: @x is nvarchar(100) here and nvarchar(50) in line 1, column 39 | say which: -- gen:param @x nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE @c IS NULL OR customer = @c`, "", `@c`, `@c nvarchar(50) null; many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders WHERE @x = 1`, "", "", `@x unknown; many; customer nvarchar(50); 1:39 type: nothing here says what type @x has | add -- gen:param @x <type>`},
	{`SELECT DATEADD(day, @n, GETDATE()) AS d`, "", "", `@n int; one; d datetime`},
	{`SELECT LEFT(customer, @n) AS d FROM dbo.orders`, "", "", `@n int; many; d nvarchar(50)`},
	{`SELECT DATEDIFF(day, @d, GETDATE()) AS d`, "", "", `@d unknown; one; d unknown; 1:22 type: nothing here says what type @d has | add -- gen:param @d <type>`},
	{`SELECT j.id FROM OPENJSON(@doc) WITH (id bigint) AS j`, "", "", `@doc nvarchar(max); many; id bigint null`},
	{`SELECT customer FROM dbo.orders WHERE id IN (SELECT id FROM OPENJSON(@ids) WITH (id bigint '$'))`, "", "", `@ids nvarchar(max); many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders o JOIN @ids i ON i.id = o.id`, `@ids dbo.ids`, "", `@ids dbo.ids; many; customer nvarchar(50)`},
	{`SELECT customer FROM dbo.orders o JOIN @ids i ON i.id = o.id`, "", "", `many; customer nvarchar(50); 1:40 name: the type of table parameter @ids isn't known | add -- gen:param @ids <table type>`},
	{`SELECT dbo.double_it(@n, 1) AS x`, "", "", `@n int; one; x int null`},
	{`SELECT dbo.count_ids(@ids) AS x`, `@ids dbo.ids`, "", `@ids dbo.ids; one; x int null`},
	{`SELECT line FROM dbo.lines_of(@id)`, "", "", `@id bigint; many; line int`},
	{`SELECT COALESCE(@c, customer) AS c FROM dbo.orders`, "", `@c`, `@c nvarchar(50) null; many; c nvarchar(50)`},
	{`SELECT ISNULL(@c, customer) AS c FROM dbo.orders`, "", "", `@c nvarchar(50); many; c nvarchar(50)`},
	{`SELECT CASE WHEN id = 1 THEN @c ELSE customer END AS c FROM dbo.orders`, "", "", `@c nvarchar(50); many; c nvarchar(50)`},
	{`SELECT id FROM dbo.orders UNION ALL SELECT @id`, "", "", `@id bigint; many; id bigint`},
	{`INSERT INTO dbo.orders (id, customer, note, total) VALUES (@id, @customer, @note, @total)`, "", "", `@id bigint; @customer nvarchar(50); @note nvarchar(100) null; @total decimal(10,2)`},
	{`INSERT INTO dbo.orders (id, customer, note, total) VALUES (@id, @customer, @note, @total)`, "", `@total`, `@id bigint; @customer nvarchar(50); @note nvarchar(100) null; @total decimal(10,2) null; 1:83 type: column total: @total may be NULL, which is refused here | leave it out of gen:null`},
	{`INSERT INTO dbo.orders (id, customer, note, total) OUTPUT inserted.id, @note AS note SELECT @id, @customer, @note, total FROM dbo.orders WHERE id = @other`, "", "", `@note nvarchar(100) null; @id bigint; @customer nvarchar(50); @other bigint; optional; id bigint; note nvarchar(100) null`},
	{`UPDATE dbo.orders SET note = @note, id += @more WHERE id = @id`, "", "", `@note nvarchar(100) null; @more bigint; @id bigint`},
	{`UPDATE dbo.orders SET note = COALESCE(@note, note) WHERE id = @id`, "", `@note`, `@note nvarchar(100) null; @id bigint`},
	{`UPDATE dbo.orders SET note = @x, customer = @x WHERE id = @id`, "", "", `@x unknown; @id bigint; 1:45 type: @x is nvarchar(50) here and nvarchar(100) in line 1, column 30 | say which: -- gen:param @x nvarchar(100)`},
	{`UPDATE dbo.orders SET note = @note WHERE note = @note`, "", "", `@note nvarchar(100) null`},
	{`DELETE FROM dbo.orders WHERE id = @id AND total < @max`, "", "", `@id bigint; @max decimal(10,2)`},
	{`MERGE dbo.slots AS t USING (SELECT @name AS name, @owner AS owner) AS s ON t.name = s.name WHEN MATCHED THEN UPDATE SET owner = @owner2;`, "", "", `@name nvarchar(20); @owner unknown; @owner2 nvarchar(20) null; 1:51 type: nothing here says what type @owner has | add -- gen:param @owner <type>`},
	{`SELECT customer FROM dbo.orders WHERE id = @a AND total > @b AND @a = @c`, "", "", `@a bigint; @b decimal(10,2); @c bigint; optional; customer nvarchar(50)`},
	{`DECLARE @n bigint = @start; SELECT customer FROM dbo.orders WHERE id = @n`, "", "", `@start bigint null; optional; customer nvarchar(50)`},
	{`SELECT @n = id FROM dbo.orders`, "", "", `1:8 type: an annotated query can't assign its parameter @n | use a procedure, or return the value as a column`},
	{`SELECT customer FROM dbo.orders WHERE nope = @x`, "", "", `@x unknown; many; customer nvarchar(50); 1:39 name: no table of this statement has a column nope | did you mean note?`},
	{`SELECT customer FROM dbo.orders WHERE id = @ID AND @id > 5`, "", "", `@ID bigint; optional; customer nvarchar(50)`},
	{`SELECT dto AT TIME ZONE @zone AS x FROM dbo.t`, "", "", `@zone nvarchar(128); many; x datetimeoffset(2)`},
}
