-- ship_next_order marks the oldest open order as shipped and returns it; nothing comes back when none is open.
--
-- Result sets:
--   Shipped: the order that leaves now.
CREATE PROCEDURE shop.ship_next_order
    @placed_before DATETIME2(3) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now DATETIME2(3) = SYSUTCDATETIME();
    DECLARE @shipped TABLE (order_id BIGINT NOT NULL, public_id UNIQUEIDENTIFIER NOT NULL);

    UPDATE shop.orders
    SET shipped_at = @now
    OUTPUT inserted.order_id, inserted.public_id INTO @shipped (order_id, public_id)
    WHERE shipped_at IS NULL
      AND order_id = (
          SELECT MIN(o.order_id) FROM shop.orders AS o
          WHERE o.shipped_at IS NULL AND (@placed_before IS NULL OR o.placed_at < @placed_before)
      );

    IF @@ROWCOUNT = 0
        RETURN 1;

    -- gen:result Shipped
    SELECT TOP (1) s.order_id, s.public_id, @now AS shipped_at FROM @shipped AS s;

    RETURN 0;
END;
GO
