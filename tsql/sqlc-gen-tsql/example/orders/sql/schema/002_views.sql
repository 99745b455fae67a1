-- Orders that wait for shipment. What a customer pays has the price of a parcel in it, which whoever creates the shop
-- gives in place of $(parcel): sqlcmd -v parcel=4.90, or as install in main.go does.
CREATE VIEW shop.v_open_orders
AS
SELECT
    o.order_id,
    o.public_id,
    c.full_name,
    o.placed_at,
    SUM(l.quantity * l.price) + $(parcel) AS total,
    COUNT(*) AS lines
FROM shop.orders AS o
INNER JOIN shop.customers AS c ON c.customer_id = o.customer_id
INNER JOIN shop.order_lines AS l ON l.order_id = o.order_id
WHERE o.shipped_at IS NULL
GROUP BY o.order_id, o.public_id, c.full_name, o.placed_at;
GO
