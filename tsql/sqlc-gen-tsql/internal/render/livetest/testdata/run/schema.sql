-- The objects that the tests of generated code run on. GO stands alone on its line.
CREATE SCHEMA gen_live;
GO
CREATE TABLE gen_live.items (
    id      bigint        NOT NULL PRIMARY KEY,
    name    nvarchar(50)  NOT NULL,
    price   decimal(18,4) NOT NULL,
    note    nvarchar(max) NULL,
    made_at datetime2(3)  NOT NULL,
    data    varbinary(10) NULL
);
GO
CREATE TYPE gen_live.item_list AS TABLE (
    id      bigint           NOT NULL,
    name    nvarchar(50)     NOT NULL,
    price   decimal(38,10)   NULL,
    note    nvarchar(max)    NULL,
    data    varbinary(max)   NULL,
    code    varchar(20)      NULL,
    flag    bit              NULL,
    tiny    tinyint          NULL,
    small   smallint         NULL,
    whole   int              NULL,
    ratio   float            NULL,
    narrow  real             NULL,
    cash    money            NULL,
    guid    uniqueidentifier NULL,
    day     date             NULL,
    clock   time(6)          NULL,
    at2     datetime2(6)     NULL,
    at1     datetime         NULL,
    ats     smalldatetime    NULL,
    ato     datetimeoffset(6) NULL
);
GO
CREATE TYPE gen_live.id_list AS TABLE (id bigint NOT NULL PRIMARY KEY, label nvarchar(20) NULL);
GO
CREATE TYPE gen_live.event_list AS TABLE (
    position int NOT NULL PRIMARY KEY, event_id bigint NOT NULL, kind nvarchar(64) NOT NULL, payload nvarchar(max) NOT NULL, lasts_ms bigint NULL
);
GO
CREATE PROCEDURE gen_live.echo_types
    @a bit, @b tinyint, @c smallint, @d int, @e bigint, @f real, @g float, @h decimal(38,10), @i money, @j smallmoney,
    @k char(5), @l varchar(20), @m nchar(5), @n nvarchar(20), @o nvarchar(max), @p binary(4), @q varbinary(10),
    @r uniqueidentifier, @s date, @t time(6), @u datetime2(6), @v datetime, @w smalldatetime, @x datetimeoffset(6), @y xml
AS
SELECT @a AS a, @b AS b, @c AS c, @d AS d, @e AS e, @f AS f, @g AS g, @h AS h, @i AS i, @j AS j, @k AS k, @l AS l,
       @m AS m, @n AS n, @o AS o, @p AS p, @q AS q, @r AS r, @s AS s, @t AS t, @u AS u, @v AS v, @w AS w, @x AS x, @y AS y;
GO
CREATE PROCEDURE gen_live.bounce
    @a bit OUTPUT, @b tinyint OUTPUT, @c smallint OUTPUT, @d int OUTPUT, @e bigint OUTPUT, @f real OUTPUT, @g float OUTPUT,
    @i money OUTPUT, @j smallmoney OUTPUT, @l varchar(20) OUTPUT, @m nchar(5) OUTPUT, @n nvarchar(20) OUTPUT,
    @o nvarchar(max) OUTPUT, @q varbinary(10) OUTPUT, @r uniqueidentifier OUTPUT, @s date OUTPUT, @t time(6) OUTPUT,
    @u datetime2(6) OUTPUT, @v datetime OUTPUT, @w smalldatetime OUTPUT, @x datetimeoffset(6) OUTPUT, @clear bit
AS
IF @clear = 1
    SELECT @a = NULL, @b = NULL, @c = NULL, @d = NULL, @e = NULL, @f = NULL, @g = NULL, @i = NULL, @j = NULL, @l = NULL,
           @m = NULL, @n = NULL, @o = NULL, @q = NULL, @r = NULL, @s = NULL, @t = NULL, @u = NULL, @v = NULL, @w = NULL, @x = NULL;
GO
CREATE PROCEDURE gen_live.give
    @a bit OUTPUT, @b tinyint OUTPUT, @c smallint OUTPUT, @d int OUTPUT, @e bigint OUTPUT, @f real OUTPUT, @g float OUTPUT,
    @i money OUTPUT, @l varchar(20) OUTPUT, @m nchar(5) OUTPUT, @n nvarchar(20) OUTPUT, @o nvarchar(max) OUTPUT,
    @q varbinary(10) OUTPUT, @r uniqueidentifier OUTPUT, @s date OUTPUT, @t time(6) OUTPUT, @u datetime2(6) OUTPUT,
    @v datetime OUTPUT, @w smalldatetime OUTPUT, @x datetimeoffset(6) OUTPUT
AS
SELECT @a = 1, @b = 255, @c = -32768, @d = -2147483648, @e = -9223372036854775808, @f = 0.5, @g = 0.1, @i = -922337203685477.5808,
       @l = 'twenty characters xx', @m = N'abcde', @n = N'twenty characters xx', @o = REPLICATE(CAST(N'long' AS nvarchar(max)), 3000),
       @q = 0x00FF, @r = '6F9619FF-8B86-D011-B42D-00C04FC964FF', @s = '2024-05-01', @t = '23:59:59.999999',
       @u = '2024-05-01 10:11:12.123456', @v = '2024-05-01 10:11:12.123', @w = '2024-05-01 10:11', @x = '2024-05-01 10:11:12.123456 +05:30';
GO
CREATE PROCEDURE gen_live.smallest @h decimal(38,38) OUTPUT, @take decimal(38,38) AS
SET @h = CASE WHEN @h IS NULL THEN @take ELSE @h END;
GO
CREATE PROCEDURE gen_live.bounce_text @h decimal(38,10) OUTPUT, @k char(5) OUTPUT, @add decimal(38,10) = NULL
AS
BEGIN
    SET @h = @h + @add;
    RETURN 7;
END
GO
CREATE PROCEDURE gen_live.flow @which int, @seen int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET @seen = @which;
    IF @which = 0 RETURN 3;
    IF @which = 9 SELECT 1 AS surprise;
    SELECT @which AS chosen;
    IF @which = 1
        SELECT v AS n FROM (VALUES (1), (2), (3)) AS t (v) ORDER BY v;
    ELSE IF @which = 2
        SELECT N'x' AS word WHERE 1 = 0;
    ELSE IF @which = 5
    BEGIN
        SELECT 1 AS n;
        THROW 50010, N'the lock is lost', 1;
    END
    ELSE IF @which = 6
        SELECT N'x' AS word UNION ALL SELECT N'y';
    RETURN 0;
END
GO
CREATE PROCEDURE gen_live.rounds @n int
AS
BEGIN
    SET NOCOUNT ON;
    WHILE @n > 0
    BEGIN
        SELECT v AS n FROM (VALUES (1), (2), (3)) AS t (v) WHERE v < @n ORDER BY v;
        IF @n <> 2
            SELECT @n;
        SET @n -= 1;
    END
    SELECT N'x' AS word;
END
GO
CREATE PROCEDURE gen_live.save_items @items gen_live.item_list READONLY, @factor int = 1, @count int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SELECT id, name, price, note, data, code, flag, tiny, small, whole, ratio, narrow, cash, guid, day, clock, at2, at1, ats, ato
    FROM @items ORDER BY id;
    SELECT @count = COUNT(*) * @factor FROM @items;
    RETURN 4;
END
GO
CREATE PROCEDURE gen_live.count_to @n int, @total int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SELECT N'head' AS title;
    WITH numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < 100)
    SELECT a.n + 100 * (b.n - 1) AS n FROM numbers AS a CROSS JOIN numbers AS b WHERE a.n + 100 * (b.n - 1) <= @n ORDER BY 1;
    SET @total = @n;
END
GO
CREATE PROCEDURE gen_live.echo_ids @ids gen_live.id_list READONLY AS SELECT id, label FROM @ids ORDER BY id;
GO
CREATE PROCEDURE gen_live.echo_events @events gen_live.event_list READONLY AS
SELECT event_id, payload FROM @events ORDER BY position;
GO
CREATE TABLE gen_live.journal (id bigint NOT NULL PRIMARY KEY);
GO
CREATE PROCEDURE gen_live.note @ids gen_live.id_list READONLY AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
INSERT INTO gen_live.journal (id) SELECT id FROM @ids;
SELECT @@ROWCOUNT AS ids;
GO
CREATE PROCEDURE gen_live.take @fail int AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
BEGIN TRY
    IF @fail = 1 THROW 50021, N'it''s early', 1;
    BEGIN TRANSACTION;
    UPDATE gen_live.journal SET id = -id;
    SELECT id FROM gen_live.journal ORDER BY id;
    IF @fail = 2 THROW 50022, N'it''s late', 1;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
CREATE PROCEDURE gen_live.note_and_take @ids gen_live.id_list READONLY, @fail int AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
EXEC gen_live.note @ids = @ids;
BEGIN TRY
    EXEC gen_live.take @fail = @fail;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    SELECT ERROR_NUMBER() AS error_number, ERROR_MESSAGE() AS error_message;
END CATCH;
GO
-- Columns without a name, two of one name, and numbers of several types in one column.
CREATE PROCEDURE gen_live.figures @which int AS
SET NOCOUNT ON;
SELECT 40 + @which;
SELECT v.n FROM (VALUES (1), (2)) AS v (n) WHERE v.n <= @which;
IF @which = 1
    SELECT 7 AS n, 8, 9 AS n;
ELSE
    SELECT CAST(2.5 AS decimal(5, 2)) AS n, NULL, CAST(3 AS bigint) AS n;
GO
CREATE PROCEDURE gen_live.nothing AS SET NOCOUNT ON;
GO
