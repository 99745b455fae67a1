-- A shop: what it sells, what was ordered.
CREATE TABLE dbo.products (
    sku   VARCHAR(20)    NOT NULL CONSTRAINT pk_products PRIMARY KEY,
    name  NVARCHAR(100)  NOT NULL,
    price DECIMAL(10, 2) NOT NULL CONSTRAINT ck_products_price CHECK (price >= 0),
    stock INT            NOT NULL CONSTRAINT df_products_stock DEFAULT 0
);
CREATE TABLE dbo.orders (
    id       BIGINT        NOT NULL IDENTITY (1, 1) CONSTRAINT pk_orders PRIMARY KEY,
    customer NVARCHAR(100) NOT NULL,
    placed   DATETIME2(3)  NOT NULL CONSTRAINT df_orders_placed DEFAULT SYSUTCDATETIME()
);
CREATE TABLE dbo.order_lines (
    order_id BIGINT      NOT NULL CONSTRAINT fk_order_lines_order REFERENCES dbo.orders (id),
    sku      VARCHAR(20) NOT NULL CONSTRAINT fk_order_lines_product REFERENCES dbo.products (sku),
    quantity INT         NOT NULL CONSTRAINT ck_order_lines_quantity CHECK (quantity > 0),
    CONSTRAINT pk_order_lines PRIMARY KEY (order_id, sku)
);
GO
CREATE TYPE dbo.lines AS TABLE (
    sku      VARCHAR(20) NOT NULL PRIMARY KEY,
    quantity INT         NOT NULL
);
GO
INSERT INTO dbo.products (sku, name, price, stock)
VALUES ('tea', N'Green tea', 4.50, 10), ('cup', N'A cup', 12.00, 2), ('pot', N'A pot', 39.90, 0);
