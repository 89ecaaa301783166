// The page of one message: a query, or a notification and where it went.
import { drawWay } from "./way-picture.js";

drawWay();
