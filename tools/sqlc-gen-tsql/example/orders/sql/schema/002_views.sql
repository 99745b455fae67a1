-- Orders that wait for shipment, with their totals.
CREATE VIEW shop.v_open_orders
AS
SELECT
    o.order_id,
    o.public_id,
    c.full_name,
    o.placed_at,
    SUM(l.quantity * l.price) AS total,
    COUNT(*) AS lines
FROM shop.orders AS o
INNER JOIN shop.customers AS c ON c.customer_id = o.customer_id
INNER JOIN shop.order_lines AS l ON l.order_id = o.order_id
WHERE o.shipped_at IS NULL
GROUP BY o.order_id, o.public_id, c.full_name, o.placed_at;
GO
