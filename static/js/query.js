// The page of one query.
import { drawQuery } from "./query-picture.js";

drawQuery();
