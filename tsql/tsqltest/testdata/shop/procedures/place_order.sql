-- Places an order, if everything is in stock. Returns its lines with their prices.
--
-- Errors: 50001 out_of_stock
CREATE OR ALTER PROCEDURE dbo.place_order
    @customer NVARCHAR(100),
    @lines    dbo.lines READONLY,
    @id       BIGINT OUTPUT
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;

    UPDATE p
    SET stock = p.stock - l.quantity
    FROM dbo.products AS p
    INNER JOIN @lines AS l ON l.sku = p.sku
    WHERE p.stock >= l.quantity;
    IF @@ROWCOUNT < (SELECT COUNT(*) FROM @lines)
        THROW 50001, N'Something is out of stock.', 1;

    INSERT INTO dbo.orders (customer) VALUES (@customer);
    SET @id = SCOPE_IDENTITY();
    INSERT INTO dbo.order_lines (order_id, sku, quantity)
    SELECT @id, l.sku, l.quantity
    FROM @lines AS l;

    COMMIT TRANSACTION;

    SELECT o.sku, o.quantity, CAST(o.quantity * p.price AS DECIMAL(10, 2)) AS total
    FROM dbo.order_lines AS o
    INNER JOIN dbo.products AS p ON p.sku = o.sku
    WHERE o.order_id = @id
    ORDER BY o.sku;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
