-- get_order reads an order and its lines in one round trip.
--
-- Result sets:
--   Header: the order with the name of its customer; none if there is no such order.
--   Lines: its lines with the titles of the products.
CREATE PROCEDURE shop.get_order
    @public_id UNIQUEIDENTIFIER
AS
BEGIN
    SET NOCOUNT ON;

    DECLARE @order_id BIGINT = (SELECT order_id FROM shop.orders WHERE public_id = @public_id);

    -- gen:result Header
    SELECT o.order_id, o.customer_id, c.full_name, o.placed_at, o.shipped_at, o.discount
    FROM shop.orders AS o
    INNER JOIN shop.customers AS c ON c.customer_id = o.customer_id
    WHERE o.order_id = @order_id;

    -- gen:result Lines
    SELECT l.line_no, l.sku, p.title, l.quantity, l.price, l.quantity * l.price AS amount
    FROM shop.order_lines AS l
    LEFT JOIN shop.products AS p ON p.sku = l.sku
    WHERE l.order_id = @order_id
    ORDER BY l.line_no;
END;
GO
