-- name: FindCustomer :one
SELECT customer_id, full_name, note, created_at FROM shop.customers WHERE email = @email;

-- name: AddCustomer :one
INSERT INTO shop.customers (email, full_name, note)
OUTPUT inserted.customer_id
VALUES (@email, @full_name, @note);

-- One call stores many products in as few round trips as possible.
-- name: AddProduct :batch
INSERT INTO shop.products (sku, title, price, in_stock) VALUES (@sku, @title, @price, @in_stock);

-- name: ListOpenOrders :many
SELECT order_id, public_id, full_name, placed_at, total, lines
FROM shop.v_open_orders
WHERE placed_at < @before
ORDER BY placed_at;

-- name: RaisePrices :execrows
-- gen:param @factor decimal(9, 4)
UPDATE shop.products SET price = price * @factor WHERE retired = 0;

-- name: RetireProduct :exec
UPDATE shop.products SET retired = 1 WHERE sku = @sku;
