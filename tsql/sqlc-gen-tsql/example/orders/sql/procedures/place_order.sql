-- place_order takes an order and its goods from the stock, all or nothing.
--
-- Result sets:
--   Lines: the lines as they were stored, with today's prices.
-- Errors:
--   50001 customer_not_found: there is no customer with this id
--   50002 out_of_stock: a product is unknown, retired, or not there in the quantity asked for
-- Locks: products, orders, order_lines
CREATE PROCEDURE shop.place_order
    @customer_id INT,
    @lines       shop.order_line_list_v1 READONLY,
    @discount    DECIMAL(5, 4) = NULL,
    @order_id    BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @asked INT = (SELECT COUNT(*) FROM @lines);

    BEGIN TRY
        BEGIN TRANSACTION;

        IF NOT EXISTS (SELECT 1 FROM shop.customers WHERE customer_id = @customer_id)
            THROW 50001, N'There is no such customer.', 1;

        UPDATE shop.products
        SET in_stock = in_stock - (SELECT l.quantity FROM @lines AS l WHERE l.sku = shop.products.sku)
        WHERE retired = 0
          AND EXISTS (
              SELECT 1 FROM @lines AS l
              WHERE l.sku = shop.products.sku AND l.quantity <= shop.products.in_stock
          );

        IF @@ROWCOUNT <> @asked
            THROW 50002, N'Not everything that was ordered is in stock.', 1;

        INSERT INTO shop.orders (customer_id, placed_at, discount)
        VALUES (@customer_id, SYSUTCDATETIME(), @discount);

        SET @order_id = SCOPE_IDENTITY();

        INSERT INTO shop.order_lines (order_id, line_no, sku, quantity, price)
        SELECT @order_id, ROW_NUMBER() OVER (ORDER BY p.sku), p.sku, l.quantity, p.price
        FROM @lines AS l
        INNER JOIN shop.products AS p ON p.sku = l.sku;

        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH;

    -- gen:result Lines
    SELECT l.line_no, l.sku, l.quantity, l.price
    FROM shop.order_lines AS l
    WHERE l.order_id = @order_id
    ORDER BY l.line_no;
END;
GO
