// Generated from the OpenAPI document by `python manage.py javascriptclient`; do not edit. A function per operation.
// Each resolves to what the server answers, and rejects with `Refused` if it refuses (see send.js).
import { part, send } from "./send.js";

/** @import * as Types from "./types.js" */
/** @import { Options } from "./send.js" */

/**
 * The resources of the API, with their addresses.
 * @param {Options} [options]
 * @returns {Promise<Types.Root>}
 */
export const rootRetrieve = (options) => send("GET", `/api/`, options);

/**
 * Accounts, for administrators.
 * @param {{ cursor?: string, is_active?: boolean, ordering?: string, page?: number, page_size?: number, username?: string, username__icontains?: string, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedAccountList>}
 */
export const accountsList = (query, options) => send("GET", `/api/accounts/`, { query, ...options });

/**
 * Accounts, for administrators.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Account>}
 */
export const accountsRetrieve = (id, query, options) => send("GET", `/api/accounts/${part(id)}/`, { query, ...options });

/**
 * Change the role of an account, whether it may log in, or its rights on single networks.
 * @param {string | number} id
 * @param {Types.PatchedAccountBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Account>}
 */
export const accountsPartialUpdate = (id, body, options) => send("PATCH", `/api/accounts/${part(id)}/`, { body, ...options });

/**
 * The tokens of an account, newest first, with their last use.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Token[]>}
 */
export const accountsTokensList = (id, options) => send("GET", `/api/accounts/${part(id)}/tokens/`, options);

/**
 * Revoke a token of an account.
 * @param {string | number} id
 * @param {string | number} token
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const accountsTokenDestroy = (id, token, options) => send("DELETE", `/api/accounts/${part(id)}/tokens/${part(token)}/`, options);

/**
 * Your own account.
 * @param {Options} [options]
 * @returns {Promise<Types.Account>}
 */
export const accountsMeRetrieve = (options) => send("GET", `/api/accounts/me/`, options);

/**
 * Live and simulated medians, with date and machine of both measurements.
 * @param {{ system?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Calibration>}
 */
export const calibrationRetrieve = (query, options) => send("GET", `/api/calibration/`, { query, ...options });

/**
 * Who changed what, newest first.
 * @param {{ action?: string, at__gte?: string, at__lt?: string, cursor?: string, kind?: string, object_id?: string, ordering?: string, page?: number, page_size?: number, q?: string, request_id?: string, source?: "REST" | "admin" | "command" | "page" | "worker", who?: string, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedChangeList>}
 */
export const changesList = (query, options) => send("GET", `/api/changes/`, { query, ...options });

/**
 * One change.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Change>}
 */
export const changesRetrieve = (id, query, options) => send("GET", `/api/changes/${part(id)}/`, { query, ...options });

/**
 * The same changes as a file, at most 20,000.
 * @param {{ action?: string, at__gte?: string, at__lt?: string, format?: "csv" | "json", kind?: string, object_id?: string, ordering?: string, q?: string, request_id?: string, source?: "REST" | "admin" | "command" | "page" | "worker", who?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Blob>}
 */
export const changesExport = (query, options) => send("GET", `/api/changes/export/`, { query, ...options });

/**
 * Finished runs, grouped into replicates.
 * @param {{ aggregate?: "max" | "mean" | "median" | "min", baseline?: string, by?: string, chart?: string, log?: string, metric?: string, page?: number, page_size?: number, q?: string, raw?: string, runs?: string, sort?: string, x?: string, y?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Comparison>}
 */
export const compareRetrieve = (query, options) => send("GET", `/api/compare/`, { query, ...options });

/**
 * Distribution of response times by group, computed from samples.
 * @param {{ aggregate?: "max" | "mean" | "median" | "min", baseline?: string, by?: string, chart?: string, configuration?: string, log?: string, metric?: string, q?: string, raw?: string, runs?: string, sort?: string, x?: string, y?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Distributions>}
 */
export const compareDistributionRetrieve = (query, options) => send("GET", `/api/compare/distribution/`, { query, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {{ cursor?: string, demo?: boolean, name?: string, name__icontains?: string, ordering?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedExperimentList>}
 */
export const experimentsList = (query, options) => send("GET", `/api/experiments/`, { query, ...options });

/**
 * Topologies are given by id, by name or as objects (`{kind: ring, brokers: 10}`).
 * @param {Types.ExperimentBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Experiment>}
 */
export const experimentsCreate = (body, options) => send("POST", `/api/experiments/`, { body, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Experiment>}
 */
export const experimentsRetrieve = (id, query, options) => send("GET", `/api/experiments/${part(id)}/`, { query, ...options });

/**
 * Change the thresholds, the only mutable part of an experiment.
 * @param {string | number} id
 * @param {Types.PatchedThresholdsBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Experiment>}
 */
export const experimentsPartialUpdate = (id, body, options) => send("PATCH", `/api/experiments/${part(id)}/`, { body, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const experimentsDestroy = (id, options) => send("DELETE", `/api/experiments/${part(id)}/`, options);

/**
 * Cancel unfinished runs.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Cancelled>}
 */
export const experimentsCancelCreate = (id, options) => send("POST", `/api/experiments/${part(id)}/cancel/`, options);

/**
 * Claims of its study, evaluated with its runs; 404 if no study launched it.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.ExperimentClaims>}
 */
export const experimentsClaims = (id, options) => send("GET", `/api/experiments/${part(id)}/claims/`, options);

/**
 * Results by configuration: varied parameters, n, figures with 95 % intervals, run counts, failures and thresholds.
 * @param {string | number} id
 * @param {{ format?: "csv" | "json" | "parquet", sort?: "-bytes_per_pair" | "-lag_mean" | "-lag_p95" | "-latency_mean" | "-latency_p95" | "-messages_per_change" | "-n" | "-p50" | "-p95" | "-rtt_p50" | "-rtt_p99" | "-te" | "-ts_mean" | "-ts_p95" | "-ts_sd" | "bytes_per_pair" | "configuration" | "lag_mean" | "lag_p95" | "latency_mean" | "latency_p95" | "messages_per_change" | "n" | "p50" | "p95" | "rtt_p50" | "rtt_p99" | "te" | "ts_mean" | "ts_p95" | "ts_sd" }} [query]
 * @param {Options} [options]
 * @returns {Promise<(Record<string, any>)[]>}
 */
export const experimentsConfigurations = (id, query, options) => send("GET", `/api/experiments/${part(id)}/configurations/`, { query, ...options });

/**
 * Evaluate thresholds for runs, without storing anything; the experiment keeps its own.
 * @param {string | number} id
 * @param {Types.JudgeBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Judged>}
 */
export const experimentsJudgeCreate = (id, body, options) => send("POST", `/api/experiments/${part(id)}/judge/`, { body, ...options });

/**
 * Create the runs and queue them in random order.
 * @param {string | number} id
 * @param {Types.LaunchBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.SkippingLaunch>}
 */
export const experimentsLaunchCreate = (id, body, options) => send("POST", `/api/experiments/${part(id)}/launch/`, { body, ...options });

/**
 * Queue failed runs again, each once, with their configurations and seeds.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Launch>}
 */
export const experimentsRetryFailedCreate = (id, options) => send("POST", `/api/experiments/${part(id)}/retry-failed/`, options);

/**
 * The definition with its topologies inline: a valid body to create the experiment here or elsewhere.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<string>}
 */
export const experimentsYamlRetrieve = (id, options) => send("GET", `/api/experiments/${part(id)}/yaml/`, options);

/**
 * Estimate of a launch: run count, duration and disk space.
 * @param {Types.ExperimentBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.LaunchEstimate>}
 */
export const experimentsEstimateCreate = (body, options) => send("POST", `/api/experiments/estimate/`, { body, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {{ cursor?: string, name?: string, name__icontains?: string, ordering?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedHostList>}
 */
export const hostsList = (query, options) => send("GET", `/api/hosts/`, { query, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} name
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Host>}
 */
export const hostsRetrieve = (name, query, options) => send("GET", `/api/hosts/${part(name)}/`, { query, ...options });

/**
 * Actions of networks.
 * @param {{ cursor?: string, name?: string, name__icontains?: string, ordering?: string, page?: number, page_size?: number, state?: "degraded" | "failed" | "running" | "starting" | "stopped" | "stopping", state__in?: string[], topology?: string, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedNetworkList>}
 */
export const networksList = (query, options) => send("GET", `/api/networks/`, { query, ...options });

/**
 * Deploy a topology as a network that runs until it is stopped.
 * @param {Types.NetworkBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Network>}
 */
export const networksCreate = (body, options) => send("POST", `/api/networks/`, { body, ...options });

/**
 * Actions of networks.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Network>}
 */
export const networksRetrieve = (id, query, options) => send("GET", `/api/networks/${part(id)}/`, { query, ...options });

/**
 * Change the name, or settings.
 * @param {string | number} id
 * @param {Types.PatchedNetworkPatchRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkChange>}
 */
export const networksPartialUpdate = (id, body, options) => send("PATCH", `/api/networks/${part(id)}/`, { body, ...options });

/**
 * Actions of networks.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const networksDestroy = (id, options) => send("DELETE", `/api/networks/${part(id)}/`, options);

/**
 * When alarms fired and were resolved, newest first; the latest 500 are kept.
 * @param {string | number} id
 * @param {{ cursor?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedAlarmEventList>}
 */
export const networksAlarmEventsList = (id, query, options) => send("GET", `/api/networks/${part(id)}/alarm-events/`, { query, ...options });

/**
 * Alarms and their states, oldest first; at most 20.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Alarm[]>}
 */
export const networksAlarmsList = (id, options) => send("GET", `/api/networks/${part(id)}/alarms/`, options);

/**
 * Watch a measure of the time series.
 * @param {string | number} id
 * @param {Types.AlarmBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Alarm>}
 */
export const networksAlarmsCreate = (id, body, options) => send("POST", `/api/networks/${part(id)}/alarms/`, { body, ...options });

/**
 * One alarm.
 * @param {string | number} id
 * @param {string | number} alarm
 * @param {Options} [options]
 * @returns {Promise<Types.Alarm>}
 */
export const networksAlarmRetrieve = (id, alarm, options) => send("GET", `/api/networks/${part(id)}/alarms/${part(alarm)}/`, options);

/**
 * Delete an alarm.
 * @param {string | number} id
 * @param {string | number} alarm
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const networksAlarmDestroy = (id, alarm, options) => send("DELETE", `/api/networks/${part(id)}/alarms/${part(alarm)}/`, options);

/**
 * The bootstrap list: the healthy brokers, nearest first, and then the others.
 * @param {string | number} id
 * @param {{ by?: "latency" | "load" | "place", client?: string, x?: number, y?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Bootstrap>}
 */
export const networksBootstrapRetrieve = (id, query, options) => send("GET", `/api/networks/${part(id)}/bootstrap/`, { query, ...options });

/**
 * The healthy brokers of the bootstrap list, one `host:port` a line, nearest first.
 * @param {string | number} id
 * @param {{ by?: "latency" | "load" | "place", client?: string, x?: number, y?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<string>}
 */
export const networksBootstrapText = (id, query, options) => send("GET", `/api/networks/${part(id)}/bootstrap.txt`, { query, ...options });

/**
 * Processes that connect the network with MQTT servers, and their states.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Bridge[]>}
 */
export const networksBridgesList = (id, options) => send("GET", `/api/networks/${part(id)}/bridges/`, options);

/**
 * Add a bridge.
 * @param {string | number} id
 * @param {Types.BridgeBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Bridge>}
 */
export const networksBridgesCreate = (id, body, options) => send("POST", `/api/networks/${part(id)}/bridges/`, { body, ...options });

/**
 * One bridge.
 * @param {string | number} id
 * @param {string | number} number
 * @param {Options} [options]
 * @returns {Promise<Types.Bridge>}
 */
export const networksBridgeRetrieve = (id, number, options) => send("GET", `/api/networks/${part(id)}/bridges/${part(number)}/`, options);

/**
 * Change a bridge, which restarts; or stop and start it by `desired`.
 * @param {string | number} id
 * @param {string | number} number
 * @param {Types.PatchedBridgeChangeRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Bridge>}
 */
export const networksBridgePartialUpdate = (id, number, body, options) => send("PATCH", `/api/networks/${part(id)}/bridges/${part(number)}/`, { body, ...options });

/**
 * Delete a bridge.
 * @param {string | number} id
 * @param {string | number} number
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const networksBridgeDestroy = (id, number, options) => send("DELETE", `/api/networks/${part(id)}/bridges/${part(number)}/`, options);

/**
 * State and load of each broker; memory only on the host that runs the brokers.
 * @param {string | number} id
 * @param {{ page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.RunBrokerList>}
 */
export const networksBrokersList = (id, query, options) => send("GET", `/api/networks/${part(id)}/brokers/`, { query, ...options });

/**
 * Add a broker with links to others.
 * @param {string | number} id
 * @param {Types.AddBrokerBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkChange>}
 */
export const networksBrokersCreate = (id, body, options) => send("POST", `/api/networks/${part(id)}/brokers/`, { body, ...options });

/**
 * One broker: neighbours, counters and latest steps.
 * @param {string | number} id
 * @param {string | number} index
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkBroker>}
 */
export const networksBrokerRetrieve = (id, index, options) => send("GET", `/api/networks/${part(id)}/brokers/${part(index)}/`, options);

/**
 * Drain a broker and remove it with its links.
 * @param {string | number} id
 * @param {string | number} index
 * @param {{ allow_split?: boolean, dry_run?: boolean, version?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkChange>}
 */
export const networksBrokerDestroy = (id, index, query, options) => send("DELETE", `/api/networks/${part(id)}/brokers/${part(index)}/`, { query, ...options });

/**
 * Let a broker give its entries away, leave and stop.
 * @param {string | number} id
 * @param {string | number} index
 * @param {Types.ChangeBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkChange>}
 */
export const networksBrokerDrain = (id, index, body, options) => send("POST", `/api/networks/${part(id)}/brokers/${part(index)}/drain/`, { body, ...options });

/**
 * Begin or end a fault of the system at a server while the network runs, within two seconds: cut the radio of a mobile broker, bring it back, or move it to another port.
 * @param {string | number} id
 * @param {string | number} index
 * @param {Types.FaultBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Network>}
 */
export const networksBrokerFault = (id, index, body, options) => send("POST", `/api/networks/${part(id)}/brokers/${part(index)}/faults/`, { body, ...options });

/**
 * Move a broker to another address: one with the same links starts there (`added` has its index), then this one gives its entries away and is removed.
 * @param {string | number} id
 * @param {string | number} index
 * @param {Types.ChangeBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkChange>}
 */
export const networksBrokerMove = (id, index, body, options) => send("POST", `/api/networks/${part(id)}/brokers/${part(index)}/move/`, { body, ...options });

/**
 * Restart one broker at its address within a few seconds.
 * @param {string | number} id
 * @param {string | number} index
 * @param {Options} [options]
 * @returns {Promise<Types.Network>}
 */
export const networksBrokerRestart = (id, index, options) => send("POST", `/api/networks/${part(id)}/brokers/${part(index)}/restart/`, options);

/**
 * Clients that the servers of the network know, in order of registration.
 * @param {string | number} id
 * @param {{ page?: number, page_size?: number, reachable?: boolean }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkClientList>}
 */
export const networksClientsList = (id, query, options) => send("GET", `/api/networks/${part(id)}/clients/`, { query, ...options });

/**
 * List what all brokers of the network hold, each provider's latest value once.
 * @param {string | number} id
 * @param {{ attribute?: string, cursor?: string, fields?: string, id_pattern?: string, max_age_s?: number, near?: string, page_size?: number, provider?: string, q?: string, scope?: string, type?: string, within_km?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.ContextPage>}
 */
export const networksContextList = (id, query, options) => send("GET", `/api/networks/${part(id)}/context/`, { query, ...options });

/**
 * Query context.
 * @param {string | number} id
 * @param {string | number} type
 * @param {string | number} entity
 * @param {string | number} scope
 * @param {{ broker?: number, dry?: boolean, trace?: boolean }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Context>}
 */
export const networksContextRetrieve = (id, type, entity, scope, query, options) => send("GET", `/api/networks/${part(id)}/context/${part(type)}/${part(entity)}/${part(scope)}/`, { query, ...options });

/**
 * Store context.
 * @param {string | number} id
 * @param {string | number} type
 * @param {string | number} entity
 * @param {string | number} scope
 * @param {Types.ContextBodyRequest} body
 * @param {{ broker?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Provided>}
 */
export const networksContextUpdate = (id, type, entity, scope, body, query, options) => send("PUT", `/api/networks/${part(id)}/context/${part(type)}/${part(entity)}/${part(scope)}/`, { body, query, ...options });

/**
 * Delete what a provider stored: no broker serves it any more, nor older data of this provider that arrive later.
 * @param {string | number} id
 * @param {string | number} type
 * @param {string | number} entity
 * @param {string | number} scope
 * @param {{ provider?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Deleted>}
 */
export const networksContextDestroy = (id, type, entity, scope, query, options) => send("DELETE", `/api/networks/${part(id)}/context/${part(type)}/${part(entity)}/${part(scope)}/`, { query, ...options });

/**
 * Store, query and delete context, up to 1,000 operations, each with its own status in the response.
 * @param {string | number} id
 * @param {Types.BatchBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Batch>}
 */
export const networksContextBatchCreate = (id, body, options) => send("POST", `/api/networks/${part(id)}/context/batch/`, { body, ...options });

/**
 * Register, keep or unregister clients, by the `flag` of each `ctxAdv`.
 * @param {string | number} id
 * @param {string} body
 * @param {Options} [options]
 * @returns {Promise<string>}
 */
export const networksContextmlAdvertise = (id, body, options) => send("POST", `/api/networks/${part(id)}/contextml/advertise/`, { body, type: "application/xml", ...options });

/**
 * The providers of a scope as `ctxAdvs`, at most 64.
 * @param {string | number} id
 * @param {{ scope?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<string>}
 */
export const networksContextmlLookup = (id, query, options) => send("GET", `/api/networks/${part(id)}/contextml/lookup/`, { query, type: "application/xml", ...options });

/**
 * Publish `ctxEls` of providers that this account has registered.
 * @param {string | number} id
 * @param {string} body
 * @param {Options} [options]
 * @returns {Promise<string>}
 */
export const networksContextmlPublish = (id, body, options) => send("POST", `/api/networks/${part(id)}/contextml/publish/`, { body, type: "application/xml", ...options });

/**
 * Query context with one `ctxQuery`; `ms` is its deadline.
 * @param {string | number} id
 * @param {string} body
 * @param {Options} [options]
 * @returns {Promise<string>}
 */
export const networksContextmlQuery = (id, body, options) => send("POST", `/api/networks/${part(id)}/contextml/query/`, { body, type: "application/xml", ...options });

/**
 * Add (`ctxSubscrs`) and remove (`ctxUnsubscr`) subscriptions of one consumer that this account has registered.
 * @param {string | number} id
 * @param {string} body
 * @param {Options} [options]
 * @returns {Promise<string>}
 */
export const networksContextmlSubscribe = (id, body, options) => send("POST", `/api/networks/${part(id)}/contextml/subscribe/`, { body, type: "application/xml", ...options });

/**
 * Events of the network and its brokers, newest first; at most 50.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkEvent[]>}
 */
export const networksEventsList = (id, options) => send("GET", `/api/networks/${part(id)}/events/`, options);

/**
 * The gateways of a network of ContextNet: their nodes, and which are drained.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkGateway[]>}
 */
export const networksGatewaysList = (id, options) => send("GET", `/api/networks/${part(id)}/gateways/`, options);

/**
 * Add a link between two brokers.
 * @param {string | number} id
 * @param {Types.LinkBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkChange>}
 */
export const networksLinksCreate = (id, body, options) => send("POST", `/api/networks/${part(id)}/links/`, { body, ...options });

/**
 * Cut the link between the brokers `a` and `b`.
 * @param {string | number} id
 * @param {{ a?: number, allow_split?: boolean, b?: number, dry_run?: boolean, version?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkChange>}
 */
export const networksLinksDestroy = (id, query, options) => send("DELETE", `/api/networks/${part(id)}/links/`, { query, ...options });

/**
 * The providers of a scope, at most 64.
 * @param {string | number} id
 * @param {{ scope?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Lookup>}
 */
export const networksLookup = (id, query, options) => send("GET", `/api/networks/${part(id)}/lookup/`, { query, ...options });

/**
 * The mobile brokers of a federation: state, what is stored for and by them, and their bulk queues.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.MobileBroker[]>}
 */
export const networksMobileBrokersList = (id, options) => send("GET", `/api/networks/${part(id)}/mobile-brokers/`, options);

/**
 * Applications that this account has in a network of ContextNet by way of HTTP.
 * @param {string | number} id
 * @param {{ page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.MobileApplicationPage>}
 */
export const networksMobileApplicationsList = (id, query, options) => send("GET", `/api/networks/${part(id)}/mobile/applications/`, { query, ...options });

/**
 * End an application, with its subscriptions.
 * @param {string | number} id
 * @param {string | number} name
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const networksMobileApplicationDestroy = (id, name, options) => send("DELETE", `/api/networks/${part(id)}/mobile/applications/${part(name)}/`, options);

/**
 * Messages to mobile nodes that were dropped: they expired, or were evicted from a full store.
 * @param {string | number} id
 * @param {{ node?: string, page?: number, page_size?: number, reason?: "evicted" | "expired" }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.MobileDiscardedPage>}
 */
export const networksMobileDiscardedList = (id, query, options) => send("GET", `/api/networks/${part(id)}/mobile/discarded/`, { query, ...options });

/**
 * Mobile nodes that were ever connected to a network of ContextNet: where, and whether they still are.
 * @param {string | number} id
 * @param {{ connected?: boolean, gateway?: string, page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.MobileNodePage>}
 */
export const networksMobileNodesList = (id, query, options) => send("GET", `/api/networks/${part(id)}/mobile/nodes/`, { query, ...options });

/**
 * One mobile node.
 * @param {string | number} id
 * @param {string | number} node
 * @param {Options} [options]
 * @returns {Promise<Types.MobileNode>}
 */
export const networksMobileNodeRetrieve = (id, node, options) => send("GET", `/api/networks/${part(id)}/mobile/nodes/${part(node)}/`, options);

/**
 * The secret of a mobile node, for its device; after it was revoked another one.
 * @param {string | number} id
 * @param {string | number} node
 * @param {Options} [options]
 * @returns {Promise<Types.MobileSecret>}
 */
export const networksMobileSecretGive = (id, node, options) => send("POST", `/api/networks/${part(id)}/mobile/nodes/${part(node)}/secret/`, options);

/**
 * Revoke the secret of a mobile node.
 * @param {string | number} id
 * @param {string | number} node
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const networksMobileSecretRevoke = (id, node, options) => send("DELETE", `/api/networks/${part(id)}/mobile/nodes/${part(node)}/secret/`, options);

/**
 * Send a message to a mobile node, a group or all nodes.
 * @param {string | number} id
 * @param {Types.MobileMessageBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.MobileSent>}
 */
export const networksMobileSend = (id, body, options) => send("POST", `/api/networks/${part(id)}/mobile/send/`, { body, ...options });

/**
 * Subscriptions of this account in a network of ContextNet.
 * @param {string | number} id
 * @param {{ page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.MobileSubscriptionPage>}
 */
export const networksMobileSubscriptionsList = (id, query, options) => send("GET", `/api/networks/${part(id)}/mobile/subscriptions/`, { query, ...options });

/**
 * Subscribe to messages of mobile nodes.
 * @param {string | number} id
 * @param {Types.MobileSubscriptionBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.MobileSubscription>}
 */
export const networksMobileSubscriptionsCreate = (id, body, options) => send("POST", `/api/networks/${part(id)}/mobile/subscriptions/`, { body, ...options });

/**
 * One subscription, with what became of its messages.
 * @param {string | number} id
 * @param {string | number} subscription
 * @param {Options} [options]
 * @returns {Promise<Types.MobileSubscription>}
 */
export const networksMobileSubscriptionRetrieve = (id, subscription, options) => send("GET", `/api/networks/${part(id)}/mobile/subscriptions/${part(subscription)}/`, options);

/**
 * Unsubscribe.
 * @param {string | number} id
 * @param {string | number} subscription
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const networksMobileSubscriptionDestroy = (id, subscription, options) => send("DELETE", `/api/networks/${part(id)}/mobile/subscriptions/${part(subscription)}/`, options);

/**
 * Users that applications have in the log of a network of ContextNet, and what they may do there.
 * @param {string | number} id
 * @param {{ page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.MobileUserPage>}
 */
export const networksMobileUsersList = (id, query, options) => send("GET", `/api/networks/${part(id)}/mobile/users/`, { query, ...options });

/**
 * Give an application a user of its own in the log, which may only use its topics, until it is revoked or the network ends.
 * @param {string | number} id
 * @param {string | number} name
 * @param {Types.MobileUserBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.MobileNewUser>}
 */
export const networksMobileUserGrant = (id, name, body, options) => send("PUT", `/api/networks/${part(id)}/mobile/users/${part(name)}/`, { body, ...options });

/**
 * Revoke the user of an application.
 * @param {string | number} id
 * @param {string | number} name
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const networksMobileUserRevoke = (id, name, options) => send("DELETE", `/api/networks/${part(id)}/mobile/users/${part(name)}/`, options);

/**
 * The operation log, newest first: who provided, queried and withdrew what, at which broker, with what outcome.
 * @param {string | number} id
 * @param {{ broker?: number, cursor?: string, entity?: string, from?: string, op?: string, outcome?: string, page?: number, page_size?: number, provider?: string, to?: string, who?: string, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedOperationList>}
 */
export const networksOperationsList = (id, query, options) => send("GET", `/api/networks/${part(id)}/operations/`, { query, ...options });

/**
 * The same operations as a file, at most 50,000: CSV, or one JSON object a line.
 * @param {string | number} id
 * @param {{ broker?: number, entity?: string, format?: "csv" | "jsonl", from?: string, op?: string, outcome?: string, provider?: string, to?: string, who?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<string>}
 */
export const networksOperationsExport = (id, query, options) => send("GET", `/api/networks/${part(id)}/operations/export/`, { query, ...options });

/**
 * Messages that the servers of the network retain, by queue; those that leave first come first.
 * @param {string | number} id
 * @param {{ page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkQueueList>}
 */
export const networksPendingList = (id, query, options) => send("GET", `/api/networks/${part(id)}/pending/`, { query, ...options });

/**
 * Providers that this account has registered by way of HTTP.
 * @param {string | number} id
 * @param {{ page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.ProviderPage>}
 */
export const networksProvidersList = (id, query, options) => send("GET", `/api/networks/${part(id)}/providers/`, { query, ...options });

/**
 * Register a provider, or change what it advertises.
 * @param {string | number} id
 * @param {Types.ProviderBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Provider>}
 */
export const networksProvidersCreate = (id, body, options) => send("POST", `/api/networks/${part(id)}/providers/`, { body, ...options });

/**
 * One provider.
 * @param {string | number} id
 * @param {string | number} name
 * @param {Options} [options]
 * @returns {Promise<Types.Provider>}
 */
export const networksProviderRetrieve = (id, name, options) => send("GET", `/api/networks/${part(id)}/providers/${part(name)}/`, options);

/**
 * Unregister a provider.
 * @param {string | number} id
 * @param {string | number} name
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const networksProviderDestroy = (id, name, options) => send("DELETE", `/api/networks/${part(id)}/providers/${part(name)}/`, options);

/**
 * Publish context as a provider that this account has registered.
 * @param {string | number} id
 * @param {Types.PublishBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Notification>}
 */
export const networksPublish = (id, body, options) => send("POST", `/api/networks/${part(id)}/publish/`, { body, ...options });

/**
 * Clients that this account has in a network of SilboPS by way of HTTP.
 * @param {string | number} id
 * @param {{ page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PubsubClientPage>}
 */
export const networksPubsubClientsList = (id, query, options) => send("GET", `/api/networks/${part(id)}/pubsub/clients/`, { query, ...options });

/**
 * One client.
 * @param {string | number} id
 * @param {string | number} name
 * @param {Options} [options]
 * @returns {Promise<Types.PubsubClient>}
 */
export const networksPubsubClientRetrieve = (id, name, options) => send("GET", `/api/networks/${part(id)}/pubsub/clients/${part(name)}/`, options);

/**
 * Set the context of a client, or move it to another broker; it is made at its first use.
 * @param {string | number} id
 * @param {string | number} name
 * @param {Types.PubsubClientBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.PubsubClient>}
 */
export const networksPubsubClientUpdate = (id, name, body, options) => send("PUT", `/api/networks/${part(id)}/pubsub/clients/${part(name)}/`, { body, ...options });

/**
 * End a client, with its subscriptions.
 * @param {string | number} id
 * @param {string | number} name
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const networksPubsubClientDestroy = (id, name, options) => send("DELETE", `/api/networks/${part(id)}/pubsub/clients/${part(name)}/`, options);

/**
 * Publish a notification with a context.
 * @param {string | number} id
 * @param {Types.PubsubPublicationBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.PubsubPublished>}
 */
export const networksPubsubPublish = (id, body, options) => send("POST", `/api/networks/${part(id)}/pubsub/publish/`, { body, ...options });

/**
 * Subscriptions of this account in a network of SilboPS.
 * @param {string | number} id
 * @param {{ page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PubsubSubscriptionPage>}
 */
export const networksPubsubSubscriptionsList = (id, query, options) => send("GET", `/api/networks/${part(id)}/pubsub/subscriptions/`, { query, ...options });

/**
 * Subscribe by content (`where`) and by context (`scope`).
 * @param {string | number} id
 * @param {Types.PubsubSubscriptionBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.PubsubSubscription>}
 */
export const networksPubsubSubscriptionsCreate = (id, body, options) => send("POST", `/api/networks/${part(id)}/pubsub/subscriptions/`, { body, ...options });

/**
 * One subscription, with what became of its notifications.
 * @param {string | number} id
 * @param {string | number} subscription
 * @param {Options} [options]
 * @returns {Promise<Types.PubsubSubscription>}
 */
export const networksPubsubSubscriptionRetrieve = (id, subscription, options) => send("GET", `/api/networks/${part(id)}/pubsub/subscriptions/${part(subscription)}/`, options);

/**
 * Unsubscribe.
 * @param {string | number} id
 * @param {string | number} subscription
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const networksPubsubSubscriptionDestroy = (id, subscription, options) => send("DELETE", `/api/networks/${part(id)}/pubsub/subscriptions/${part(subscription)}/`, options);

/**
 * Who would get a publication, broker by broker, and which constraint or function says no.
 * @param {string | number} id
 * @param {Types.PubsubWhyBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.PubsubWhy>}
 */
export const networksPubsubWhy = (id, body, options) => send("POST", `/api/networks/${part(id)}/pubsub/why/`, { body, ...options });

/**
 * Query context: the broker asks the providers of these scopes.
 * @param {string | number} id
 * @param {Types.QueryBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Queried>}
 */
export const networksQuery = (id, body, options) => send("POST", `/api/networks/${part(id)}/query/`, { body, ...options });

/**
 * How far the newest version has been applied.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Rollout>}
 */
export const networksRolloutRetrieve = (id, options) => send("GET", `/api/networks/${part(id)}/rollout/`, options);

/**
 * Restart the brokers that have failed, so that a paused change continues.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Network>}
 */
export const networksRolloutResume = (id, options) => send("POST", `/api/networks/${part(id)}/rollout/resume/`, options);

/**
 * Return to the settings, links and brokers before the last change.
 * @param {string | number} id
 * @param {Types.ChangeBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkChange>}
 */
export const networksRolloutRollback = (id, body, options) => send("POST", `/api/networks/${part(id)}/rollout/rollback/`, { body, ...options });

/**
 * Time series of probes, load and memory: 15 minutes in steps of 1 s, 3 hours in steps of 10 s, one day in steps of 1 min, or 14 days in steps of 10 min.
 * @param {string | number} id
 * @param {{ broker?: number, range?: "14d" | "15m" | "1d" | "3h", step?: 1 | 10 | 60 | 600 }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkSeries>}
 */
export const networksSeriesRetrieve = (id, query, options) => send("GET", `/api/networks/${part(id)}/series/`, { query, ...options });

/**
 * The 100 slowest queries through REST within the last day, slowest first; with `kind=failed` the latest 100 that found nothing or had no answer.
 * @param {string | number} id
 * @param {{ kind?: "failed" | "slow", page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedOperationList>}
 */
export const networksSlowList = (id, query, options) => send("GET", `/api/networks/${part(id)}/slow/`, { query, ...options });

/**
 * Start the network.
 * @param {string | number} id
 * @param {Types.StartBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Network>}
 */
export const networksStartCreate = (id, body, options) => send("POST", `/api/networks/${part(id)}/start/`, { body, ...options });

/**
 * Stop the network; its brokers leave the overlay and exit.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Network>}
 */
export const networksStopCreate = (id, options) => send("POST", `/api/networks/${part(id)}/stop/`, options);

/**
 * Server-sent events of what changes, under the filters of the list: `stored`, `withdrawn`, `expired`, `dropped` and `left` (it is no longer selected), each with an `id`.
 * @param {string | number} id
 * @param {{ attribute?: string, id_pattern?: string, last_event_id?: string, max_age_s?: number, near?: string, provider?: string, q?: string, scope?: string, snapshot?: boolean, subscription?: string, type?: string, within_km?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<string>}
 */
export const networksStream = (id, query, options) => send("GET", `/api/networks/${part(id)}/stream/`, { query, ...options });

/**
 * Which notifications in the caches of a federation's brokers satisfy a subscription, and which predicates decide that; and which subscriptions of this account would cover it.
 * @param {string | number} id
 * @param {Types.SubscriptionDryRunBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.SubscriptionDryRun>}
 */
export const networksSubscriptionDryRun = (id, body, options) => send("POST", `/api/networks/${part(id)}/subscription-dry-run/`, { body, ...options });

/**
 * Active subscriptions of this account, and those that ended within a day.
 * @param {string | number} id
 * @param {{ page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.SubscriptionPage>}
 */
export const networksSubscriptionsList = (id, query, options) => send("GET", `/api/networks/${part(id)}/subscriptions/`, { query, ...options });

/**
 * Subscribe.
 * @param {string | number} id
 * @param {Types.SubscriptionBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Subscription>}
 */
export const networksSubscriptionsCreate = (id, body, options) => send("POST", `/api/networks/${part(id)}/subscriptions/`, { body, ...options });

/**
 * One subscription, with what became of its notifications.
 * @param {string | number} id
 * @param {string | number} subscription
 * @param {Options} [options]
 * @returns {Promise<Types.Subscription>}
 */
export const networksSubscriptionRetrieve = (id, subscription, options) => send("GET", `/api/networks/${part(id)}/subscriptions/${part(subscription)}/`, options);

/**
 * Unsubscribe.
 * @param {string | number} id
 * @param {string | number} subscription
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const networksSubscriptionDestroy = (id, subscription, options) => send("DELETE", `/api/networks/${part(id)}/subscriptions/${part(subscription)}/`, options);

/**
 * Apply the newest version of its topology, or another topology, as a difference.
 * @param {string | number} id
 * @param {Types.NewTopologyBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.NetworkChange>}
 */
export const networksTopologyApply = (id, body, options) => send("POST", `/api/networks/${part(id)}/topology/`, { body, ...options });

/**
 * The newest tree of a federation: which links are used, which rest, and the registered brokers.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Tree>}
 */
export const networksTreeRetrieve = (id, options) => send("GET", `/api/networks/${part(id)}/tree/`, options);

/**
 * The walk of a traced query.
 * @param {string | number} id
 * @param {string | number} trace
 * @param {Options} [options]
 * @returns {Promise<Types.Trace>}
 */
export const networksWalkRetrieve = (id, trace, options) => send("GET", `/api/networks/${part(id)}/walks/${part(trace)}/`, options);

/**
 * A read-only resource; lists may show fewer fields.
 * @param {{ channel?: "email" | "webhook", cursor?: string, enabled?: boolean, name?: string, ordering?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedTargetList>}
 */
export const notificationsList = (query, options) => send("GET", `/api/notifications/`, { query, ...options });

/**
 * Create a target.
 * @param {Types.TargetBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Target>}
 */
export const notificationsCreate = (body, options) => send("POST", `/api/notifications/`, { body, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Target>}
 */
export const notificationsRetrieve = (id, query, options) => send("GET", `/api/notifications/${part(id)}/`, { query, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} id
 * @param {Types.PatchedTargetChangeRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Target>}
 */
export const notificationsPartialUpdate = (id, body, options) => send("PATCH", `/api/notifications/${part(id)}/`, { body, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const notificationsDestroy = (id, options) => send("DELETE", `/api/notifications/${part(id)}/`, options);

/**
 * Deliveries of this target with their results, newest first.
 * @param {string | number} id
 * @param {{ cursor?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedDeliveryList>}
 */
export const notificationsDeliveries = (id, query, options) => send("GET", `/api/notifications/${part(id)}/deliveries/`, { query, ...options });

/**
 * Send a test notice; the result appears in its deliveries.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Delivery>}
 */
export const notificationsTest = (id, options) => send("POST", `/api/notifications/${part(id)}/test/`, options);

/**
 * Predefined experiments: a body of `POST /api/experiments/` and its purpose.
 * @param {{ page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedPresetList>}
 */
export const presetsList = (query, options) => send("GET", `/api/presets/`, { query, ...options });

/**
 * Predefined experiments: a body of `POST /api/experiments/` and its purpose.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Preset>}
 */
export const presetsRetrieve = (id, query, options) => send("GET", `/api/presets/${part(id)}/`, { query, ...options });

/**
 * The preset's YAML file, including comments.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<string>}
 */
export const presetsYamlRetrieve = (id, options) => send("GET", `/api/presets/${part(id)}/yaml/`, options);

/**
 * Number of queued runs, expected end, and whether the queue is held.
 * @param {Options} [options]
 * @returns {Promise<Types.Queue>}
 */
export const queueRetrieve = (options) => send("GET", `/api/queue/`, options);

/**
 * Pause the queue: queued runs are not launched until it is resumed; active runs continue.
 * @param {Options} [options]
 * @returns {Promise<Types.Queue>}
 */
export const queuePause = (options) => send("POST", `/api/queue/pause/`, options);

/**
 * Resume the queue.
 * @param {Options} [options]
 * @returns {Promise<Types.Queue>}
 */
export const queueResume = (options) => send("POST", `/api/queue/resume/`, options);

/**
 * A read-only resource; lists may show fewer fields.
 * @param {{ cursor?: string, experiments?: string[], kind?: "comparison", ordering?: string, page?: number, page_size?: number, schedule?: string, state?: "done" | "failed" | "queued" | "running", state__in?: string[], fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedReportSummaryList>}
 */
export const reportsList = (query, options) => send("GET", `/api/reports/`, { query, ...options });

/**
 * Create a report; Spark computes it.
 * @param {Types.ReportBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Report>}
 */
export const reportsCreate = (body, options) => send("POST", `/api/reports/`, { body, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Report>}
 */
export const reportsRetrieve = (id, query, options) => send("GET", `/api/reports/${part(id)}/`, { query, ...options });

/**
 * Delete a report and its files; 409 while it is queued or computed.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const reportsDestroy = (id, options) => send("DELETE", `/api/reports/${part(id)}/`, options);

/**
 * Cancel the report.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Report>}
 */
export const reportsCancelCreate = (id, options) => send("POST", `/api/reports/${part(id)}/cancel/`, options);

/**
 * Results by configuration, one row each: settings, figures with intervals, outcomes, memory and published values.
 * @param {string | number} id
 * @param {{ format?: "csv" | "json" | "parquet" }} [query]
 * @param {Options} [options]
 * @returns {Promise<(Record<string, any>)[]>}
 */
export const reportsConfigurations = (id, query, options) => send("GET", `/api/reports/${part(id)}/configurations/`, { query, ...options });

/**
 * The report as one self-contained HTML file.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<string>}
 */
export const reportsHtmlRetrieve = (id, options) => send("GET", `/api/reports/${part(id)}/html/`, options);

/**
 * Actions of ``RunViewSet``, split off to keep it short.
 * @param {{ configuration_hash?: string, cursor?: string, engine?: "live" | "simulated", experiment?: string, host?: string, ordering?: string, page?: number, page_size?: number, passed?: boolean, q?: string, replicate?: number, state?: "cancelled" | "collecting" | "done" | "failed" | "launching" | "measuring" | "queued" | "warming", state__in?: string[], tag?: string, verdict?: string, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedRunSummaryList>}
 */
export const runsList = (query, options) => send("GET", `/api/runs/`, { query, ...options });

/**
 * Actions of ``RunViewSet``, split off to keep it short.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Run>}
 */
export const runsRetrieve = (id, query, options) => send("GET", `/api/runs/${part(id)}/`, { query, ...options });

/**
 * Change the note, the tags and whether the run is kept from retention.
 * @param {string | number} id
 * @param {Types.PatchedLabelsBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Run>}
 */
export const runsPartialUpdate = (id, body, options) => send("PATCH", `/api/runs/${part(id)}/`, { body, ...options });

/**
 * State, load and memory of each server: current values, or those of the measurement once the run has ended.
 * @param {string | number} id
 * @param {{ format?: "csv" | "json" | "parquet", page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.RunBrokerList>}
 */
export const runsBrokersRetrieve = (id, query, options) => send("GET", `/api/runs/${part(id)}/brokers/`, { query, ...options });

/**
 * One server: neighbours, counters, data at the end, latest steps and, if recorded, latest messages.
 * @param {string | number} id
 * @param {string | number} index
 * @param {Options} [options]
 * @returns {Promise<Types.RunBroker>}
 */
export const runsBrokerRetrieve = (id, index, options) => send("GET", `/api/runs/${part(id)}/brokers/${part(index)}/`, options);

/**
 * Cancel the run.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Run>}
 */
export const runsCancelCreate = (id, options) => send("POST", `/api/runs/${part(id)}/cancel/`, options);

/**
 * Messages of a recorded run as pcapng, for Wireshark.
 * @param {string | number} id
 * @param {{ broker?: number, code?: number, from_us?: number, query?: string, to_us?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Blob>}
 */
export const runsCapture = (id, query, options) => send("GET", `/api/runs/${part(id)}/capture/`, { query, ...options });

/**
 * Messages of a recorded run, optionally by code, server and time, with their numbers.
 * @param {string | number} id
 * @param {{ broker?: number, code?: number, from_us?: number, page?: number, page_size?: number, query?: string, to_us?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.RecordedPage>}
 */
export const runsDatagramsList = (id, query, options) => send("GET", `/api/runs/${part(id)}/datagrams/`, { query, ...options });

/**
 * One message of a recorded run, decoded.
 * @param {string | number} id
 * @param {string | number} number
 * @param {Options} [options]
 * @returns {Promise<Types.RecordedMessage>}
 */
export const runsDatagramsRetrieve = (id, number, options) => send("GET", `/api/runs/${part(id)}/datagrams/${part(number)}/`, options);

/**
 * The run as a definition, with topology and seed, for `python -m overlay simulate` and sweeps.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Record<string, any>>}
 */
export const runsDefinitionRetrieve = (id, options) => send("GET", `/api/runs/${part(id)}/definition/`, options);

/**
 * Difference to the run that this one varies or repeats, request by request.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Difference>}
 */
export const runsDifferenceRetrieve = (id, options) => send("GET", `/api/runs/${part(id)}/difference/`, options);

/**
 * Events of the run, oldest first: state changes and reports of its processes.
 * @param {string | number} id
 * @param {{ cursor?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedRunEventList>}
 */
export const runsEventsList = (id, query, options) => send("GET", `/api/runs/${part(id)}/events/`, { query, ...options });

/**
 * The gateways of a run of ContextNet over time, and the rounds of its PoA manager.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.RunGateways>}
 */
export const runsGatewaysRetrieve = (id, options) => send("GET", `/api/runs/${part(id)}/gateways/`, options);

/**
 * Query count and number of holding brokers by entity, most queried first.
 * @param {string | number} id
 * @param {{ page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.HoldingList>}
 */
export const runsHoldingsRetrieve = (id, query, options) => send("GET", `/api/runs/${part(id)}/holdings/`, { query, ...options });

/**
 * Where publishers and subscribers of a run of SilboPS were, and notifications, as they recorded them.
 * @param {string | number} id
 * @param {{ from_s?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Map>}
 */
export const runsMapRetrieve = (id, query, options) => send("GET", `/api/runs/${part(id)}/map/`, { query, ...options });

/**
 * Messages of a recorded run in send order.
 * @param {string | number} id
 * @param {{ from_us?: number, page?: number, page_size?: number, query?: string, to_us?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.MessageList>}
 */
export const runsMessagesRetrieve = (id, query, options) => send("GET", `/api/runs/${part(id)}/messages/`, { query, ...options });

/**
 * Where nodes of a run of ContextNet drove, and messages to their regions, as they recorded them.
 * @param {string | number} id
 * @param {{ from_s?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.RegionMap>}
 */
export const runsRegionMapRetrieve = (id, query, options) => send("GET", `/api/runs/${part(id)}/region-map/`, { query, ...options });

/**
 * Run the same configuration with the same seed again, as a new run.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Run>}
 */
export const runsRerunCreate = (id, options) => send("POST", `/api/runs/${part(id)}/rerun/`, options);

/**
 * All requests and updates, as recorded by the clients.
 * @param {string | number} id
 * @param {{ format?: "csv" | "json" | "parquet", page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<{ count: number, next: string | null, previous: string | null, results: (Record<string, any>)[] }>}
 */
export const runsSamplesRetrieve = (id, query, options) => send("GET", `/api/runs/${part(id)}/samples/`, { query, ...options });

/**
 * Time series of the run: the snapshot that the websocket sends.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Record<string, any>>}
 */
export const runsSeriesRetrieve = (id, options) => send("GET", `/api/runs/${part(id)}/series/`, options);

/**
 * The tables of a collected run, with the number of rows of each; empty before.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Table[]>}
 */
export const runsTablesList = (id, options) => send("GET", `/api/runs/${part(id)}/tables/`, options);

/**
 * All rows of one table of `tables`.
 * @param {string | number} id
 * @param {string | number} table
 * @param {{ format?: "csv" | "json" | "parquet", page?: number, page_size?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<{ count: number, next: string | null, previous: string | null, results: (Record<string, any>)[] }>}
 */
export const runsTableRetrieve = (id, table, query, options) => send("GET", `/api/runs/${part(id)}/tables/${part(table)}/`, { query, ...options });

/**
 * Traced queries: one in so many, and all failed ones.
 * @param {string | number} id
 * @param {{ attribute?: string, client?: string, direction?: string, entity?: string, format?: "csv" | "json" | "parquet", kind?: string, node?: string, order?: "latest" | "longest" | "slowest", outcome?: string, page?: number, page_size?: number, provider?: string, publisher?: string, scope?: string, show?: string, subscriber?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.TraceList>}
 */
export const runsTracesRetrieve = (id, query, options) => send("GET", `/api/runs/${part(id)}/traces/`, { query, ...options });

/**
 * One message in full: its queues, the propagations that hold it, and their chains hop by hop.
 * @param {string | number} id
 * @param {string | number} message
 * @param {Options} [options]
 * @returns {Promise<Types.MessageWay>}
 */
export const runsMessageWayRetrieve = (id, message, options) => send("GET", `/api/runs/${part(id)}/traces/${part(message)}/`, options);

/**
 * A message from or to a node in full: what each process did with it, and its passages between them.
 * @param {string | number} id
 * @param {string | number} node_message
 * @param {Options} [options]
 * @returns {Promise<Types.NodeMessage>}
 */
export const runsNodeMessageRetrieve = (id, node_message, options) => send("GET", `/api/runs/${part(id)}/traces/${part(node_message)}/`, options);

/**
 * A publication in full: content, steps of each broker, messages between participants, deliveries.
 * @param {string | number} id
 * @param {string | number} publication
 * @param {Options} [options]
 * @returns {Promise<Types.PublicationWay>}
 */
export const runsPublicationRetrieve = (id, publication, options) => send("GET", `/api/runs/${part(id)}/traces/${part(publication)}/`, options);

/**
 * One query in full: steps of each broker, messages between brokers, and the consumer's view.
 * @param {string | number} id
 * @param {string | number} trace
 * @param {Options} [options]
 * @returns {Promise<Types.Trace>}
 */
export const runsTraceRetrieve = (id, trace, options) => send("GET", `/api/runs/${part(id)}/traces/${part(trace)}/`, options);

/**
 * A message in full: steps of each broker, messages between participants, deliveries.
 * @param {string | number} id
 * @param {string | number} way
 * @param {Options} [options]
 * @returns {Promise<Types.FederationMessage>}
 */
export const runsFederationMessageRetrieve = (id, way, options) => send("GET", `/api/runs/${part(id)}/traces/${part(way)}/`, options);

/**
 * Repeat the run with one change, as a new run with the same seed and arrivals.
 * @param {string | number} id
 * @param {Types.ChangeRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Run>}
 */
export const runsWhatIfCreate = (id, body, options) => send("POST", `/api/runs/${part(id)}/what-if/`, { body, ...options });

/**
 * Apply an action to many runs; `dry_run` only reports the effect.
 * @param {Types.BulkBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Bulk>}
 */
export const runsBulkCreate = (body, options) => send("POST", `/api/runs/bulk/`, { body, ...options });

/**
 * The list of runs as a file: same columns and order, units in the column names, at most 10,000 rows.
 * @param {{ columns?: string, engine?: string, experiment?: string, format?: "csv" | "json" | "parquet", q?: string, size?: string, sort?: string, state?: string, tag?: string, topology?: string, verdict?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<(Record<string, any>)[]>}
 */
export const runsExportRetrieve = (query, options) => send("GET", `/api/runs/export/`, { query, ...options });

/**
 * Fields of the filter language, with unit and example.
 * @param {Options} [options]
 * @returns {Promise<Types.Field[]>}
 */
export const runsFieldsList = (options) => send("GET", `/api/runs/fields/`, options);

/**
 * A read-only resource; lists may show fewer fields.
 * @param {{ cursor?: string, experiments?: string[], name?: string, name__icontains?: string, ordering?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedScheduleList>}
 */
export const schedulesList = (query, options) => send("GET", `/api/schedules/`, { query, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {Types.ScheduleBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Schedule>}
 */
export const schedulesCreate = (body, options) => send("POST", `/api/schedules/`, { body, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Schedule>}
 */
export const schedulesRetrieve = (id, query, options) => send("GET", `/api/schedules/${part(id)}/`, { query, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} id
 * @param {Types.PatchedScheduleChangeRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Schedule>}
 */
export const schedulesPartialUpdate = (id, body, options) => send("PATCH", `/api/schedules/${part(id)}/`, { body, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const schedulesDestroy = (id, options) => send("DELETE", `/api/schedules/${part(id)}/`, options);

/**
 * Run the schedule now and return the result.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Firing>}
 */
export const schedulesFire = (id, options) => send("POST", `/api/schedules/${part(id)}/fire/`, options);

/**
 * The last 200 executions, newest first.
 * @param {string | number} id
 * @param {{ cursor?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedFiringList>}
 */
export const schedulesHistory = (id, query, options) => send("GET", `/api/schedules/${part(id)}/history/`, { query, ...options });

/**
 * Search experiments, runs, topologies, networks, reports, schedules, hosts, tags, the caller's saved views, pages and actions by name.
 * @param {{ q?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Search>}
 */
export const searchRetrieve = (query, options) => send("GET", `/api/search/`, { query, ...options });

/**
 * Disk usage and retention policy.
 * @param {Options} [options]
 * @returns {Promise<Types.Storage>}
 */
export const storageRetrieve = (options) => send("GET", `/api/storage/`, options);

/**
 * Change the retention policy.
 * @param {Types.PatchedPolicyBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Storage>}
 */
export const storagePartialUpdate = (body, options) => send("PATCH", `/api/storage/`, { body, ...options });

/**
 * Delete expired files now, at most a hundred items; the rest follows automatically.
 * @param {Options} [options]
 * @returns {Promise<Types.RemovalPlan>}
 */
export const storageApply = (options) => send("POST", `/api/storage/apply/`, options);

/**
 * Effect of a policy change.
 * @param {Types.PolicyBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.RemovalPlan>}
 */
export const storagePreview = (body, options) => send("POST", `/api/storage/preview/`, { body, ...options });

/**
 * Published figures and questions, each with its definition, criteria and latest result.
 * @param {{ page?: number, page_size?: number, system?: string, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedStudySummaryList>}
 */
export const studiesList = (query, options) => send("GET", `/api/studies/`, { query, ...options });

/**
 * Published figures and questions, each with its definition, criteria and latest result.
 * @param {string | number} id
 * @param {{ scale?: "paper" | "quick", fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Study>}
 */
export const studiesRetrieve = (id, query, options) => send("GET", `/api/studies/${part(id)}/`, { query, ...options });

/**
 * Create an experiment at a scale and queue its runs; 409 while one is in progress.
 * @param {string | number} id
 * @param {Types.StudyLaunchBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.StudyLaunch>}
 */
export const studiesLaunchCreate = (id, body, options) => send("POST", `/api/studies/${part(id)}/launch/`, { body, ...options });

/**
 * From how many notifications per change of context on SIENA costs less than SilboPS: by a model of costs measured in process, as published, and in the latest runs of both arms.
 * @param {{ filters?: number, subscriptions?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.BreakEven>}
 */
export const silbopsBreakEvenRetrieve = (query, options) => send("GET", `/api/studies/E2.6/break-even/`, { query, ...options });

/**
 * Systems, each with its settings, workload, measures and studies.
 * @param {{ name?: string, name__icontains?: string, ordering?: "-name" | "name", page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedSystemList>}
 */
export const systemsList = (query, options) => send("GET", `/api/systems/`, { query, ...options });

/**
 * Systems, each with its settings, workload, measures and studies.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.System>}
 */
export const systemsRetrieve = (id, query, options) => send("GET", `/api/systems/${part(id)}/`, { query, ...options });

/**
 * Compose a datagram from fields and decode it.
 * @param {string | number} system
 * @param {Types.ComposeBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Decoded>}
 */
export const systemsWireCompose = (system, body, options) => send("POST", `/api/systems/${part(system)}/wire/compose/`, { body, ...options });

/**
 * Decode a datagram: fields with offsets, and a server's verdict.
 * @param {string | number} system
 * @param {Types.DecodeBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Decoded>}
 */
export const systemsWireDecode = (system, body, options) => send("POST", `/api/systems/${part(system)}/wire/decode/`, { body, ...options });

/**
 * Send a datagram once to a server of this installation; returns the answers of 2 s.
 * @param {string | number} system
 * @param {Types.SendBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Sent>}
 */
export const systemsWireSend = (system, body, options) => send("POST", `/api/systems/${part(system)}/wire/send/`, { body, ...options });

/**
 * Which queue each sample message joins, and when it leaves.
 * @param {Types.TryBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Tried>}
 */
export const systemsRadiatorTry = (body, options) => send("POST", `/api/systems/radiator/try/`, { body, ...options });

/**
 * All tags in use, sorted by name.
 * @param {{ cursor?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedTagList>}
 */
export const tagsList = (query, options) => send("GET", `/api/tags/`, { query, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} name
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Tag>}
 */
export const tagsRetrieve = (name, query, options) => send("GET", `/api/tags/${part(name)}/`, { query, ...options });

/**
 * Rename the tag on all its runs.
 * @param {string | number} name
 * @param {Types.PatchedTagBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Tag>}
 */
export const tagsPartialUpdate = (name, body, options) => send("PATCH", `/api/tags/${part(name)}/`, { body, ...options });

/**
 * Remove the tag from all runs.
 * @param {string | number} name
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const tagsDestroy = (name, options) => send("DELETE", `/api/tags/${part(name)}/`, options);

/**
 * Your own tokens; their text is never shown again.
 * @param {{ ordering?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedTokenList>}
 */
export const tokensList = (query, options) => send("GET", `/api/tokens/`, { query, ...options });

/**
 * A new token, with user name and password.
 * @param {Types.TokenBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.MadeToken>}
 */
export const tokensCreate = (body, options) => send("POST", `/api/tokens/`, { body, ...options });

/**
 * Revoke a token: requests with it are refused within a second.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const tokensDestroy = (id, options) => send("DELETE", `/api/tokens/${part(id)}/`, options);

/**
 * A read-only resource; lists may show fewer fields.
 * @param {{ brokers?: number, brokers__gte?: number, brokers__lte?: number, cursor?: string, kind?: string, name?: string, name__icontains?: string, ordering?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedTopologySummaryList>}
 */
export const topologiesList = (query, options) => send("GET", `/api/topologies/`, { query, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {Types.TopologyBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Topology>}
 */
export const topologiesCreate = (body, options) => send("POST", `/api/topologies/`, { body, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Topology>}
 */
export const topologiesRetrieve = (id, query, options) => send("GET", `/api/topologies/${part(id)}/`, { query, ...options });

/**
 * Save an edited topology as a new version.
 * @param {string | number} id
 * @param {Types.EditedBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Topology>}
 */
export const topologiesUpdate = (id, body, options) => send("PUT", `/api/topologies/${part(id)}/`, { body, ...options });

/**
 * Change fields.
 * @param {string | number} id
 * @param {Types.PatchedTopologyBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Topology>}
 */
export const topologiesPartialUpdate = (id, body, options) => send("PATCH", `/api/topologies/${part(id)}/`, { body, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const topologiesDestroy = (id, options) => send("DELETE", `/api/topologies/${part(id)}/`, options);

/**
 * Suggested links that shorten walks or paths most, chosen one by one.
 * @param {string | number} id
 * @param {{ goal?: "path" | "walk", k?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Advice>}
 */
export const topologiesAdviceRetrieve = (id, query, options) => send("GET", `/api/topologies/${part(id)}/advice/`, { query, ...options });

/**
 * Copy the topology under a new name.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<Types.Topology>}
 */
export const topologiesCloneCreate = (id, options) => send("POST", `/api/topologies/${part(id)}/clone/`, options);

/**
 * Differences between two versions.
 * @param {string | number} id
 * @param {{ from?: number, to?: number }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.TopologyDifference>}
 */
export const topologiesDifferenceRetrieve = (id, query, options) => send("GET", `/api/topologies/${part(id)}/difference/`, { query, ...options });

/**
 * Export as a file that can be imported again: GraphML and JSON are exact, an edge list omits positions.
 * @param {string | number} id
 * @param {{ format?: "csv" | "graphml" | "json" }} [query]
 * @param {Options} [options]
 * @returns {Promise<Record<string, any>>}
 */
export const topologiesExportRetrieve = (id, query, options) => send("GET", `/api/topologies/${part(id)}/export/`, { query, ...options });

/**
 * Graph measures, and an estimate of the walk length.
 * @param {string | number} id
 * @param {{ policy?: "avoid" | "backtrack" | "noback" | "uniform" }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.Examined>}
 */
export const topologiesMeasuresRetrieve = (id, query, options) => send("GET", `/api/topologies/${part(id)}/measures/`, { query, ...options });

/**
 * Saved versions, newest first.
 * @param {string | number} id
 * @param {{ cursor?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedVersionList>}
 */
export const topologiesVersionsList = (id, query, options) => send("GET", `/api/topologies/${part(id)}/versions/`, { query, ...options });

/**
 * One version: `nodes` and `links` as accepted by PUT, with `kind`, `params` and `seed`.
 * @param {string | number} id
 * @param {string | number} number
 * @param {Options} [options]
 * @returns {Promise<Record<string, any>>}
 */
export const topologiesVersion = (id, number, options) => send("GET", `/api/topologies/${part(id)}/versions/${part(number)}/`, options);

/**
 * Restore an earlier version as the newest one.
 * @param {string | number} id
 * @param {string | number} number
 * @param {Options} [options]
 * @returns {Promise<Types.Topology>}
 */
export const topologiesRestore = (id, number, options) => send("POST", `/api/topologies/${part(id)}/versions/${part(number)}/restore/`, options);

/**
 * The same for an unsaved topology.
 * @param {Types.AdvisedBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Advice>}
 */
export const topologiesAdvise = (body, options) => send("POST", `/api/topologies/advice/`, { body, ...options });

/**
 * A read-only resource; lists may show fewer fields.
 * @param {Types.TopologyImportBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Topology>}
 */
export const topologiesImportCreate = (body, options) => send("POST", `/api/topologies/import/`, { body, ...options });

/**
 * Kinds of topologies with their parameters.
 * @param {Options} [options]
 * @returns {Promise<Record<string, any>>}
 */
export const topologiesKindsRetrieve = (options) => send("GET", `/api/topologies/kinds/`, options);

/**
 * The same for an unsaved topology.
 * @param {Types.ExaminedBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Examined>}
 */
export const topologiesExamine = (body, options) => send("POST", `/api/topologies/measures/`, { body, ...options });

/**
 * Your own views.
 * @param {{ cursor?: string, ordering?: string, page?: number, page_size?: number, fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.PaginatedSavedViewList>}
 */
export const viewsList = (query, options) => send("GET", `/api/views/`, { query, ...options });

/**
 * A saved view of a list, of your own.
 * @param {Types.SavedViewBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.SavedView>}
 */
export const viewsCreate = (body, options) => send("POST", `/api/views/`, { body, ...options });

/**
 * A saved view of a list, of your own.
 * @param {string | number} id
 * @param {{ fields?: string }} [query]
 * @param {Options} [options]
 * @returns {Promise<Types.SavedView>}
 */
export const viewsRetrieve = (id, query, options) => send("GET", `/api/views/${part(id)}/`, { query, ...options });

/**
 * A saved view of a list, of your own.
 * @param {string | number} id
 * @param {Types.PatchedRenameBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.SavedView>}
 */
export const viewsPartialUpdate = (id, body, options) => send("PATCH", `/api/views/${part(id)}/`, { body, ...options });

/**
 * A saved view of a list, of your own.
 * @param {string | number} id
 * @param {Options} [options]
 * @returns {Promise<null>}
 */
export const viewsDestroy = (id, options) => send("DELETE", `/api/views/${part(id)}/`, options);

/**
 * Compose a datagram from fields and decode it.
 * @param {Types.ComposeBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Decoded>}
 */
export const wireCompose = (body, options) => send("POST", `/api/wire/compose/`, { body, ...options });

/**
 * Decode a datagram: fields with offsets, and a server's verdict.
 * @param {Types.DecodeBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Decoded>}
 */
export const wireDecode = (body, options) => send("POST", `/api/wire/decode/`, { body, ...options });

/**
 * Send a datagram once to a server of this installation; returns the answers of 2 s.
 * @param {Types.SendBodyRequest} body
 * @param {Options} [options]
 * @returns {Promise<Types.Sent>}
 */
export const wireSend = (body, options) => send("POST", `/api/wire/send/`, { body, ...options });
