// Generated from the OpenAPI document by `python manage.py javascriptclient`; do not edit. Types only: no page loads it.

/**
 * @typedef {Object} Account
 * @property {string} id
 * @property {string} username Required.
 * @property {string} role
 * @property {boolean} is_active Designates whether this user should be treated as active.
 * @property {string | null} last_login
 * @property {Record<string, string>} networks Level by network id: rights beyond the role
 * @property {number} deployed Networks that it has deployed and not deleted
 * @property {number} most_deployed How many it may have
 */

/**
 * @typedef {"guest" | "viewer" | "operator" | "administrator"} AccountBodyRoleEnum
 */

/**
 * @typedef {"cancel" | "rerun" | "tag" | "untag" | "keep" | "unkeep" | "delete"} ActionEnum
 */

/**
 * @typedef {Object} AddBrokerBodyRequest
 * @property {boolean} [dry_run] Only list the steps
 * @property {boolean} [allow_split] Also if some brokers can no longer reach each other
 * @property {number | null} [version] The version that was read; 409 if there is a newer one
 * @property {number[]} links Indices of its neighbours
 */

/**
 * @typedef {Object} Added
 * @property {number} a
 * @property {number} b
 * @property {number | null} before Mean hops without it; null if disconnected
 * @property {number | null} after
 */

/**
 * @typedef {Object} Advice
 * @property {string} goal
 * @property {Added[]} links
 */

/**
 * @typedef {Object} AdvisedBodyRequest
 * @property {DrawnNodeRequest[]} nodes Brokers in order; links refer to their position, from 0
 * @property {(number[] | { a: number, b: number, delay_ms?: number, jitter_ms?: number, loss?: number, loss_burst?: number, loss_burst_limit?: number, duplication?: number, reordering?: number, reordering_ms?: number, corruption?: number, rate_bytes_per_s?: number, queue_bytes?: number })[]} links [[a, b], …] or objects with a, b and link conditions
 * @property {number} [k]
 * @property {GoalEnum} [goal]
 */

/**
 * @typedef {Object} Alarm
 * @property {string} id
 * @property {MeasureEnum} measure
 * @property {string} unit Of value, clears and seen; empty: a plain number
 * @property {ComparisonEnum} comparison
 * @property {number} value Threshold, in the unit of the measure
 * @property {number} clears Value at which it is well again
 * @property {number} for_s For how long, before it fires and before it is resolved
 * @property {number | null} [broker] Index of a broker; null: all together
 * @property {string} rule In words
 * @property {AlarmState} state
 * @property {string} since Begin of its state
 * @property {number | null} seen The measure when its state changed
 * @property {string} unwatched Why it is not evaluated now; empty: it is, or it rests
 * @property {string} [owner]
 * @property {string} created
 */

/**
 * @typedef {Object} AlarmBodyRequest
 * @property {string} measure A column of the time series: answered_share in share; p50_us in us; p95_us in us; mean_us in us; hops in a plain number; answers_per_s in per_s; load_per_s in per_s; cores in cores; private_bytes in bytes
 * @property {string} comparison above or below
 * @property {number | string} value Threshold: a number in the unit of the measure, or a text such as "5ms", "99%"
 * @property {number} [for_s] For how long it must be beyond the threshold, 0 to 86,400
 * @property {number | string | null} [clears] It is resolved at this value; default: a tenth better
 * @property {number | null} [broker] Index of a broker; null: all brokers together
 */

/**
 * @typedef {Object} AlarmEvent
 * @property {number} id
 * @property {string} at
 * @property {string} alarm Id of the alarm
 * @property {AlarmState} state
 * @property {number | null} [value] The measure then; null: the network was stopped
 * @property {string} rule The rule in words
 * @property {string} words
 */

/**
 * @typedef {"quiet" | "pending" | "firing" | "resolved"} AlarmState
 */

/**
 * @typedef {Object} Anchor
 * @property {string} name
 * @property {OneEngine} live
 * @property {OneEngine} simulated
 * @property {OverRuns} off Relative error of the simulated median
 * @property {boolean} is_close
 */

/**
 * @typedef {Object} Baseline
 * @property {string} text As requested
 * @property {string} label
 * @property {number} runs
 */

/**
 * @typedef {Object} Batch
 * @property {BatchResult[]} results In the order of the operations
 */

/**
 * @typedef {Object} BatchBodyRequest
 * @property {boolean} [atomic] All are checked before any is sent
 * @property {BatchOperationRequest[]} operations
 */

/**
 * @typedef {Object} BatchOperationRequest
 * @property {OpEnum} op
 * @property {string} type
 * @property {string} entity
 * @property {string} scope
 * @property {string} [provider]
 * @property {any} [payload] An object of strings, or the payload's text
 * @property {number} [valid_ms]
 */

/**
 * @typedef {Object} BatchResult
 * @property {number} status That of the single request; 424: not sent, an earlier one failed
 */

/**
 * @typedef {"lower" | "higher"} BetterEnum
 */

/**
 * @typedef {""} BlankEnum
 */

/**
 * @typedef {Object} Bootstrap
 * @property {string} network
 * @property {string} state
 * @property {ByEnum} by
 * @property {number} healthy How many of `brokers` are healthy; they come first
 * @property {string} checked When the brokers were pinged
 * @property {number} renew_after_s When to fetch the list again
 * @property {BootstrapBroker[]} brokers
 */

/**
 * @typedef {Object} BootstrapBroker
 * @property {string} address host:port
 * @property {number} broker_index
 * @property {HealthEnum} health healthy: it answers a ping; silent: its process runs and does not answer; down: it does not run * `healthy` - healthy * `silent` - silent * `down` - down
 * @property {string} state As in the network's `brokers`
 * @property {number | null} round_trip_us Of that ping, from the web process
 * @property {number | null} load_per_s Messages that make up its load, per second, in the latest probes; null: unknown
 * @property {number[] | null} place x and y in the topology; null: it has no places
 */

/**
 * @typedef {Object} BreakEven
 * @property {string} sentence
 * @property {BreakEvenRow[]} results
 */

/**
 * @typedef {Object} BreakEvenRow
 * @property {string} kind model, published, corrected (two messages for each filter), prototype (in process), simulated, live
 * @property {string} experiment Id, of runs
 * @property {string} name Of the experiment
 * @property {number} filters Of a subscriber
 * @property {number} subscriptions
 * @property {number | null} value Notifications per change at which both arms cost the same; null: SilboPS never more
 * @property {number | null} low Of the 95 % interval
 * @property {number | null} high Null: no upper end, or no interval
 * @property {number} n Replicates
 */

/**
 * @typedef {Object} Bridge
 * @property {number} number Within its network
 * @property {string} mqtt
 * @property {string} username
 * @property {boolean} has_password
 * @property {BridgeTls} tls
 * @property {Record<string, any>} settings Further settings, by the names in docs/mqtt.md
 * @property {DesiredEnum} desired
 * @property {BridgeState} state
 * @property {string} reason Why it is not connected
 * @property {string} since Begin of its state
 * @property {BridgeCounters} counters
 * @property {Record<string, any>} report The status of docs/mqtt.md; up to 5 s old
 * @property {number | null} pid
 * @property {number} restarts
 * @property {string} owner
 * @property {string} created
 * @property {string} mark Mark of the current values.
 * @property {(string | Record<string, any>)[]} in Patterns of topics to read: texts, or objects with pattern, and names for placeholders that it has not
 * @property {(string | Record<string, any>)[]} out Patterns of topics to publish
 */

/**
 * @typedef {Object} BridgeBodyRequest
 * @property {string} [username]
 * @property {string | null} [password] Never shown; null: none
 * @property {BridgeTlsBodyRequest} [tls] Of mqtts://; without ca the system's authorities count
 * @property {Record<string, any>} [settings] Further settings, by the names in docs/mqtt.md; null removes one
 * @property {DesiredEnum} [desired]
 * @property {string} mqtt The server: mqtt://HOST:PORT, or mqtts:// for TLS
 * @property {(string | Record<string, any>)[]} [in] Patterns of topics to read: texts, or objects with pattern, and names for placeholders that it has not
 * @property {(string | Record<string, any>)[]} [out] Patterns of topics to publish
 */

/**
 * @typedef {Object} BridgeCounters
 * @property {number} messages_in Received from the server
 * @property {number} messages_out Published
 * @property {number} refused Messages and entries; the report has the last reason
 * @property {number} loops_prevented Messages that said what the network knew, such as its own
 */

/**
 * @typedef {"connected" | "connecting" | "failed" | "stopped"} BridgeState
 */

/**
 * @typedef {Object} BridgeTls
 * @property {string} ca
 * @property {string} certificate
 * @property {boolean} has_key
 */

/**
 * @typedef {Object} BridgeTlsBodyRequest
 * @property {string | null} [ca] Certificates of authorities
 * @property {string | null} [certificate] The client's certificate
 * @property {string | null} [key] Its key without a password; never shown
 */

/**
 * @typedef {Object} Broker
 * @property {number} index
 * @property {string} [name] Its process: broker-3
 * @property {string | null} address
 * @property {string} state starting, up, not answering, restarting, draining, failed or stopped
 * @property {string} [wanted] running, drained or removed
 * @property {boolean} [is_old] Whether a change of settings has not reached it yet
 * @property {string[]} [faults] Faults that an operator has begun, such as offline
 * @property {string} [accepts] What clients speak that connect by TCP to its address: MQTT 3.1.1
 * @property {string} reason
 * @property {number} restarts
 * @property {number | null} pid
 * @property {number} since_unix_ms
 * @property {string} since
 */

/**
 * @typedef {Object} BrokerStep
 * @property {number} t_s
 * @property {string} query Query id, as in traces
 * @property {string} entity
 * @property {string} step
 * @property {number | null} peer
 * @property {boolean} with_consumer
 * @property {string} detail
 */

/**
 * @typedef {Object} Bulk
 * @property {string} action
 * @property {string} tag
 * @property {boolean} dry_run
 * @property {number} chosen Number of selected runs
 * @property {number} changed Number of changed runs; with dry_run, of runs that would change
 * @property {string[]} runs Ids of the changed runs
 * @property {Record<string, number>} states Number of changed runs by state
 * @property {Record<string, number>} left Number of unchanged runs by reason
 * @property {number} estimated_s Estimated seconds to rerun them one at a time
 * @property {string} sentence
 */

/**
 * @typedef {Object} BulkBodyRequest
 * @property {ActionEnum} action
 * @property {string} [q] Filter expression: topology = ring and p95 < 2ms and tag = nightly
 * @property {string[]} [runs]
 * @property {string} [tag] For the actions tag and untag
 * @property {boolean} [dry_run] Report the effect without applying it
 */

/**
 * @typedef {"latency" | "load" | "place"} ByEnum
 */

/**
 * @typedef {Object} Calibration
 * @property {string} system
 * @property {string[]} unmeasured Roles and units of work without measured service times; simulated runs use default costs for them
 * @property {Record<string, any>} costs Measured costs in microseconds, by role
 * @property {boolean} own True: measured on this installation; false: the reference shipped with the code
 * @property {string | null} date Null if nothing was measured
 * @property {number | null} age_days
 * @property {Record<string, any>} machine
 * @property {Record<string, any>} code
 * @property {boolean} another_machine Whether it was measured on another machine
 * @property {number} close Relative error up to which a simulated median counts as close
 * @property {number} near Number of configurations below that are close
 * @property {Anchor[]} anchors Empty if no validation was run
 * @property {Anchor[]} growth Configurations that answer a question of their own
 */

/**
 * @typedef {Object} Cancelled
 * @property {number} cancelled Number of cancelled runs
 */

/**
 * @typedef {Object} Chain
 * @property {number} number
 * @property {number} repairs Further injections and direct pushes
 * @property {ChainHop[]} hops
 */

/**
 * @typedef {Object} ChainHop
 * @property {number} client
 * @property {string} state
 * @property {number | null} received_us
 * @property {number | null} took_us From the push to the callback
 * @property {MessageStep[]} steps
 */

/**
 * @typedef {Object} Change
 * @property {string} id
 * @property {string} [at]
 * @property {string} [who] Name of the account; empty: no account
 * @property {string} [token] Prefix of the token, if by one
 * @property {SourceEnum} source
 * @property {string} [request_id]
 * @property {string} kind Of the object
 * @property {string} object Its id
 * @property {string} [name] Of the object
 * @property {string} action
 * @property {Record<string, any>} before Values that changed, as they were
 * @property {Record<string, any>} after As they are since, and further facts
 */

/**
 * @typedef {Object} ChangeBodyRequest
 * @property {boolean} [dry_run] Only list the steps
 * @property {boolean} [allow_split] Also if some brokers can no longer reach each other
 * @property {number | null} [version] The version that was read; 409 if there is a newer one
 */

/**
 * @typedef {Object} ChangeRequest
 * @property {number[]} [add_link] Two brokers
 * @property {number[]} [cut_link] Two brokers
 * @property {number} [kill] A broker to kill at the start of measuring
 * @property {Record<string, any>} [settings] One setting and its new value
 * @property {number} [record_mb] Recording size per server, MB
 * @property {ReplicatesEnum} [replicates] This run only, or every replicate * `one` - one * `all` - all
 */

/**
 * @typedef {"email" | "webhook"} ChannelEnum
 */

/**
 * @typedef {Object} ComparedDifference
 * @property {number | null} value
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} n Number of replicates of the interval
 * @property {string} method
 * @property {ComparedDifferenceVerdictEnum} verdict Verdict from the interval * `better` - better * `worse` - worse * `no difference shown` - no difference shown * `unknown` - unknown
 * @property {number | null} share Relative to the baseline's mean
 */

/**
 * @typedef {"better" | "worse" | "no difference shown" | "unknown"} ComparedDifferenceVerdictEnum
 */

/**
 * @typedef {Object} ComparedGroup
 * @property {number} number Position in the order of the parameters, from 1
 * @property {string} configuration Hash of its first configuration; identifies the group
 * @property {string[]} configurations
 * @property {string} label
 * @property {string} engine
 * @property {ComparedGroupRoleEnum} role
 * @property {Record<string, any>} parameters Parameters that distinguish it from the other groups
 * @property {number} n Runs
 * @property {string[]} runs
 * @property {Record<string, Estimate>} figures By measure name
 * @property {number | null} published Published values of the same configurations
 * @property {boolean} is_baseline
 * @property {ComparedDifference | null} difference
 */

/**
 * @typedef {"measured" | "shaped" | "simulated"} ComparedGroupRoleEnum
 */

/**
 * @typedef {Object} ComparedMeasure
 * @property {string} name
 * @property {string} title
 * @property {string} unit us, ms, bytes, per_s, share, cores or nothing
 * @property {string} better lower, higher, or empty if neither is better
 */

/**
 * @typedef {Object} ComparedParameter
 * @property {string} name
 * @property {string} unit
 * @property {any[]} values
 */

/**
 * @typedef {Object} Comparison
 * @property {number} count Groups
 * @property {string | null} next
 * @property {string | null} previous
 * @property {number} runs Finished runs compared
 * @property {number} not_done Selected runs without a result
 * @property {number} repeats Simulated runs excluded because a later run repeats them
 * @property {number} changed What-if runs excluded because the filter does not select them
 * @property {ComparedMeasure[]} metrics
 * @property {string} aggregate
 * @property {string[]} by
 * @property {ComparedParameter[]} differing
 * @property {Baseline | null} baseline
 * @property {Record<string, number> | null} verdicts Count by verdict; null without a baseline
 * @property {ComparedGroup[]} results
 */

/**
 * @typedef {"above" | "below"} ComparisonEnum
 */

/**
 * @typedef {Object} ComposeBodyRequest
 * @property {number} code
 * @property {Record<string, string>} [fields] By name; omitted fields have defaults.
 */

/**
 * @typedef {Object} Context
 * @property {string} provider
 * @property {Record<string, any> | null} payload The payload's pairs; null if the text is not made of pairs
 * @property {string} text The payload as stored
 * @property {string} valid_begin
 * @property {string} valid_end
 * @property {number} age_ms Milliseconds since it was stored
 * @property {string} broker The queried broker, host:port
 * @property {number} broker_index Its index in the network
 * @property {number | null} hops 0 if the queried broker has the data; null if only a trace can tell
 * @property {StrategyEnum} strategy How the broker was chosen: one known to have the data, the first of the entity's order, the next one, a second one while the first was silent, or the one requested; in lists view: no broker was queried * `holder` - holder * `walk` - walk * `next` - next * `hedged` - hedged * `chosen` - chosen * `view` - view
 * @property {string | null} walk URL of its walk and hops, available within 2 s, for traced queries
 */

/**
 * @typedef {Object} ContextBodyRequest
 * @property {string} provider
 * @property {any} payload An object of strings, or the payload's text
 * @property {number} [valid_ms]
 */

/**
 * @typedef {Object} ContextPage
 * @property {string | null} next The next page; null at the end
 * @property {boolean} complete Whether all brokers were read
 * @property {MissingBroker[]} missing
 * @property {string} last_event_id A stream that resumes behind it has all changes since
 * @property {ListedContext[]} results
 */

/**
 * @typedef {Object} Covering
 * @property {string} id
 * @property {string} client Its consumer
 * @property {string[]} scopes
 * @property {string} text Its expression
 * @property {string} expires
 */

/**
 * @typedef {Object} DecodeBodyRequest
 * @property {string} text The message, hexadecimal digits, a dump, or Base64
 * @property {FormEnum} [form] Default: detected * `text` - text * `hex` - hex * `hex dump` - hex dump * `base64` - base64
 */

/**
 * @typedef {Object} Decoded
 * @property {number} bytes
 * @property {string} hex
 * @property {string} text As UTF-8, with replacement characters if it is not
 * @property {string} summary Its content in one line
 * @property {string} inside Content of its last field, inflated; empty in text messages
 * @property {string} read_as The detected form of the text
 * @property {number | null} code Null if unknown
 * @property {string} name
 * @property {WireField[]} fields
 * @property {string[]} missing Missing fields at the end
 * @property {string[]} problems
 * @property {Verdict} verdict
 */

/**
 * @typedef {Object} Deleted
 * @property {string} provider Whose data are no longer served
 * @property {string} deleted_at Older data of this provider are refused from now on
 * @property {number[]} pending Indexes of brokers that have not confirmed, and are asked again until they do or have started again
 */

/**
 * @typedef {Object} Delivery
 * @property {string} id
 * @property {NoticeKind} event
 * @property {string} title
 * @property {string} path
 * @property {DeliveryState} state
 * @property {number} [attempts]
 * @property {string} [due] Time of the next attempt
 * @property {string} [sentence] Result of the last attempt
 * @property {string} created
 * @property {string | null} [ended_at]
 */

/**
 * @typedef {"waiting" | "delivered" | "failed"} DeliveryState
 */

/**
 * @typedef {"running" | "stopped"} DesiredEnum
 */

/**
 * @typedef {Object} Difference
 * @property {string} compared_with
 * @property {Record<string, any>} change Empty for a rerun
 * @property {OverEnum} over Unit of the intervals * `requests` - requests * `seeds` - seeds
 * @property {number} seeds
 * @property {Seed[]} by_seed
 * @property {number} pairs
 * @property {number} answered Pairs answered in both runs
 * @property {number} unpaired
 * @property {Interval} mean
 * @property {Interval} median
 * @property {number | null} answered_before Share of pairs answered
 * @property {number | null} answered_after
 * @property {Interval} answered_share Difference of the two shares
 * @property {number} faster
 * @property {number} slower
 * @property {number | null} before Median response time of these requests in that run
 * @property {number | null} after
 * @property {Outcome[]} outcomes
 * @property {number[]} curve Difference at each percentile of the pairs
 */

/**
 * @typedef {"received" | "sent"} DirectionEnum
 */

/**
 * @typedef {Object} Distribution
 * @property {string} configuration
 * @property {string} label
 * @property {number} answers Number of requests
 * @property {number} runs Runs with samples
 * @property {number} missing Runs without samples
 * @property {number} skipped Runs skipped to limit the number of samples
 * @property {number[]} us Microseconds at each of `shares`, exact
 * @property {number} n Replicates: runs of one configuration, or seeds common to several configurations
 * @property {number[]} low_us Minimum over replicates at each of `shares`; empty with fewer than two replicates
 * @property {number[]} high_us Maximum over replicates at each of `shares`
 */

/**
 * @typedef {Object} Distributions
 * @property {number[]} shares Shares of the answers, 0 to 1
 * @property {Distribution[]} results
 */

/**
 * @typedef {Object} DrawnNodeRequest
 * @property {string} [name] Empty: named by its index
 * @property {number} x
 * @property {number} y From top to bottom
 */

/**
 * @typedef {Object} EditedBodyRequest
 * @property {DrawnNodeRequest[]} nodes Brokers in order; links refer to their position, from 0
 * @property {(number[] | { a: number, b: number, delay_ms?: number, jitter_ms?: number, loss?: number, loss_burst?: number, loss_burst_limit?: number, duplication?: number, reordering?: number, reordering_ms?: number, corruption?: number, rate_bytes_per_s?: number, queue_bytes?: number })[]} links [[a, b], …] or objects with a, b and link conditions
 * @property {number} [version] The version that was edited; alternative to If-Match
 * @property {string} [name]
 * @property {string} [note]
 */

/**
 * @typedef {Object} Entry
 * @property {string} entity type|id|scope
 * @property {string} provider
 * @property {EntryCameAsEnum} came_as
 * @property {number} left_ms Remaining validity; negative if expired
 */

/**
 * @typedef {"update" | "answer"} EntryCameAsEnum
 */

/**
 * @typedef {Object} Error
 * @property {string} field The invalid field, dotted if nested; empty if none
 * @property {string} code
 * @property {string} sentence
 * @property {ErrorEntry[]} errors
 */

/**
 * @typedef {Object} ErrorEntry
 * @property {string} field The invalid field, dotted if nested; empty if none
 * @property {string} code
 * @property {string} sentence
 */

/**
 * @typedef {Object} Estimate
 * @property {number | null} value
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} n Number of replicates of the interval
 * @property {string} method
 */

/**
 * @typedef {Object} Examined
 * @property {string[]} warnings
 * @property {Record<string, any>} measures
 * @property {Record<string, any>} structure cycles, cycle, bridges, bridge_ends, clustering
 * @property {Walk} walk
 */

/**
 * @typedef {Object} ExaminedBodyRequest
 * @property {DrawnNodeRequest[]} nodes Brokers in order; links refer to their position, from 0
 * @property {(number[] | { a: number, b: number, delay_ms?: number, jitter_ms?: number, loss?: number, loss_burst?: number, loss_burst_limit?: number, duplication?: number, reordering?: number, reordering_ms?: number, corruption?: number, rate_bytes_per_s?: number, queue_bytes?: number })[]} links [[a, b], …] or objects with a, b and link conditions
 * @property {PolicyEnum} [policy] Walk policy of the estimate * `backtrack` - backtrack * `avoid` - avoid * `uniform` - uniform * `noback` - noback
 */

/**
 * @typedef {Object} Experiment
 * @property {string} id
 * @property {string} name
 * @property {any} topology
 * @property {string} system
 * @property {string} engine
 * @property {Record<string, any>} settings
 * @property {Record<string, any>} workload
 * @property {({ by_ms?: number, share?: number, links?: string | ((number | string)[])[], loss?: number, delay_ms?: number, islands?: ((number | string)[])[] | string, way?: string, spread_s?: number, down_s?: number, what: "kill" | "restart" | "partition" | "slow" | "lossy" | "impaired" | "crash" | "crash_at_push" | "cut" | "drain" | "late" | "log_cut" | "log_down" | "log_restart" | "log_slow" | "loss" | "lossy_links" | "move" | "offline" | "restart_client" | "separated" | "silent" | "slow_links" | "vanish", at_s: number, until_s?: number | null, brokers?: number[], servers?: string[], nodes?: (number | string)[], one_way?: boolean, clients?: string[] | number, jitter_ms?: number, loss_burst?: number, loss_burst_limit?: number, duplication?: number, reordering?: number, reordering_ms?: number, corruption?: number, rate_bytes_per_s?: number, queue_bytes?: number, partition?: boolean })[]} faults
 * @property {Record<string, any>} simulation
 * @property {number} record_mb
 * @property {string[]} thresholds
 * @property {(Record<string, any>)[]} blocks
 * @property {number} replicates
 * @property {number} seed
 * @property {boolean} [report_when_done] Create a comparison report when its runs have ended
 * @property {boolean} [demo]
 * @property {string} [study] Id of the study that it was launched by, or empty
 * @property {string} [scale] At which that study was launched
 * @property {string} [owner]
 * @property {string} created
 * @property {Record<string, number>} runs Number of runs by state
 * @property {{ passed?: number, broken?: number, left?: number } | null} judged Number of runs that passed, broke a threshold or are not evaluated; null without thresholds
 * @property {string} mark Mark of the current values.
 */

/**
 * @typedef {Object} ExperimentBodyRequest
 * @property {string} name
 * @property {any} [topology] An id, a name, an object ({kind, brokers, …}), or a list of those
 * @property {string} [system]
 * @property {string} [engine]
 * @property {Record<string, any>} [settings]
 * @property {Record<string, any>} [workload]
 * @property {({ by_ms?: number, share?: number, links?: string | ((number | string)[])[], loss?: number, delay_ms?: number, islands?: ((number | string)[])[] | string, way?: string, spread_s?: number, down_s?: number, what: "kill" | "restart" | "partition" | "slow" | "lossy" | "impaired" | "crash" | "crash_at_push" | "cut" | "drain" | "late" | "log_cut" | "log_down" | "log_restart" | "log_slow" | "loss" | "lossy_links" | "move" | "offline" | "restart_client" | "separated" | "silent" | "slow_links" | "vanish", at_s: number, until_s?: number | null, brokers?: number[], servers?: string[], nodes?: (number | string)[], one_way?: boolean, clients?: string[] | number, jitter_ms?: number, loss_burst?: number, loss_burst_limit?: number, duplication?: number, reordering?: number, reordering_ms?: number, corruption?: number, rate_bytes_per_s?: number, queue_bytes?: number, partition?: boolean })[]} [faults]
 * @property {Record<string, any>} [simulation]
 * @property {number} [record_mb] Recording size per server, MB
 * @property {string[]} [thresholds] Conditions a run must meet: "p95 < 2ms", "not_found = 0"
 * @property {(Record<string, any>)[]} [blocks]
 * @property {number} [replicates]
 * @property {number} [seed]
 * @property {boolean} [report_when_done]
 */

/**
 * @typedef {Object} ExperimentClaims
 * @property {string} study
 * @property {string} system
 * @property {ScaleEnum} scale
 * @property {string} question
 * @property {number} seeds
 * @property {StudyCriterion[]} criteria
 * @property {StudyClaim[]} claims
 * @property {string[]} sentences The result in words
 * @property {string} digest
 */

/**
 * @typedef {"request" | "answer" | "refusal" | "update" | "acknowledgement" | "upkeep"} FamilyEnum
 */

/**
 * @typedef {Object} FaultBodyRequest
 * @property {string} what A fault of the system: offline or move of a mobile broker
 * @property {boolean} [begins] False ends a fault that lasts
 */

/**
 * @typedef {Object} FederationMessage
 * @property {string} id
 * @property {FederationMessageKindEnum} kind
 * @property {string} client Who published, subscribed or asked
 * @property {number} number
 * @property {string} scope
 * @property {string} entity
 * @property {string} provider Of a subscription: of its first notification
 * @property {number} at_us Of a subscription or QUERY: its intended sending
 * @property {number | null} us T_S, or until the last delivery or the answer
 * @property {string} outcome
 * @property {number} delivered
 * @property {boolean} cached
 * @property {number | null} hops
 * @property {number} lost
 * @property {number} in_window
 * @property {string} causes Of what is in window
 * @property {string} note Of a subscription: its first notification
 * @property {boolean} traced
 * @property {number} sent_us
 * @property {string[]} scopes Of a traced QUERY: what its broker asked for, in this order
 * @property {WayStep[]} steps If it was traced
 * @property {WayMessage[]} messages
 * @property {WayDelivery[]} deliveries
 */

/**
 * @typedef {"notification" | "subscription" | "query"} FederationMessageKindEnum
 */

/**
 * @typedef {Object} Field
 * @property {string} name
 * @property {string} what number, text, choice, flag, moment or tag
 * @property {string} unit Unit of a plain number; empty if none
 * @property {string[]} choices
 * @property {string} help
 * @property {string} example Example condition
 */

/**
 * @typedef {Object} Firing
 * @property {string} at
 * @property {string} [by] Empty: executed by the schedule itself
 * @property {FiringOutcome} outcome
 * @property {string} sentence Reason if nothing was done
 * @property {string | null} report
 * @property {Record<string, number>} runs Number of launched runs by state
 */

/**
 * @typedef {"done" | "skipped" | "failed"} FiringOutcome
 */

/**
 * @typedef {"text" | "hex" | "hex dump" | "base64"} FormEnum
 */

/**
 * @typedef {"graphml" | "json" | "csv"} FormatEnum
 */

/**
 * @typedef {Object} Found
 * @property {string} kind One of page, experiment, topology, network, run, report, schedule, host, tag, view
 * @property {string} name
 * @property {string} about State, size or purpose
 * @property {string} address Path of the page
 */

/**
 * @typedef {Object} FoundProvider
 * @property {string} id
 * @property {string} endpoint Its address in the network
 * @property {string} url
 */

/**
 * @typedef {"walk" | "path"} GoalEnum
 */

/**
 * @typedef {"healthy" | "silent" | "down"} HealthEnum
 */

/**
 * @typedef {Object} Heard
 * @property {number} bytes
 * @property {string} hex
 * @property {string} text As UTF-8, with replacement characters if it is not
 * @property {string} summary Its content in one line
 * @property {string} inside Content of its last field, inflated; empty in text messages
 * @property {string} read_as The detected form of the text
 * @property {number | null} code Null if unknown
 * @property {string} name
 * @property {WireField[]} fields
 * @property {string[]} missing Missing fields at the end
 * @property {string[]} problems
 * @property {Verdict} verdict
 * @property {number} after_us Microseconds after the datagram was sent
 */

/**
 * @typedef {Object} Held
 * @property {number} t_s
 * @property {string[]} own type|id|scope, from providers; at most 50
 * @property {string[]} replicas At most 50
 * @property {number} count
 * @property {number} left_out
 */

/**
 * @typedef {Object} Holding
 * @property {string} entity type|id|scope
 * @property {number} queries Requests intended during the measurement
 * @property {number} per_s
 * @property {number} holders Brokers with a copy from its provider or by hash, at the end
 * @property {number} replicas Brokers with only a replica
 */

/**
 * @typedef {Object} HoldingList
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {number} brokers Brokers that reported their data; killed ones did not
 * @property {number} entities
 * @property {number} copies Copies of all entities, including replicas
 * @property {number} left_out Keys beyond the 1,000 that each broker reports
 * @property {number | null} exponent Exponent of copies over the query rate
 * @property {number | null} exponent_error Its standard error
 * @property {number} exponent_entities Entities in the fit: queried and held
 * @property {number} square_root The optimal exponent for random search: 0.5
 * @property {Holding[]} results
 */

/**
 * @typedef {Object} Host
 * @property {string} name
 * @property {boolean} alive
 * @property {string} heartbeat
 * @property {Record<string, any>} supervisor PID, version and start time; empty if none
 * @property {string} [problem] Problem that prevents this host from running brokers, if any
 * @property {number} [cores]
 * @property {number} [memory_bytes]
 * @property {string} [version]
 * @property {Record<string, number>} load Load of the host; empty if unknown
 * @property {string[]} active_runs Active runs; at most three
 * @property {number} network_brokers Brokers of its networks that run
 * @property {number} most_network_brokers How many it may run
 */

/**
 * @typedef {Object} Interval
 * @property {number | null} value
 * @property {number | null} low
 * @property {number | null} high
 */

/**
 * @typedef {Object} JudgeBodyRequest
 * @property {string[]} thresholds Conditions: ["p95 < 2ms", "not_found = 0"]
 * @property {string[] | null} [runs] Ids of runs of the experiment's system; default: all runs of the experiment
 */

/**
 * @typedef {Object} Judged
 * @property {RunVerdict[]} runs
 */

/**
 * @typedef {"accepted" | "refused" | "ignored"} JudgementEnum
 */

/**
 * @typedef {"run_failed" | "experiment_finished" | "thresholds_broken" | "report_done" | "report_failed" | "network_degraded" | "alarm" | "disk_nearly_full"} KindsEnum
 */

/**
 * @typedef {Object} KnownEntry
 * @property {string} entity type|id|scope
 * @property {KnownEntryCameAsEnum} came_as found: a traced query was answered with it * `update` - update * `replica` - replica * `found` - found
 * @property {string} provider Provider of an update; else empty
 * @property {number} t_s Time of observation, seconds since the launch
 * @property {number | null} left_ms Remaining validity; null if each provider decides
 * @property {boolean} at_most Whether left_ms is an upper bound
 */

/**
 * @typedef {"update" | "replica" | "found"} KnownEntryCameAsEnum
 */

/**
 * @typedef {Object} LastMessage
 * @property {number} t_s
 * @property {DirectionEnum} direction
 * @property {number | null} other The server at the other end; null for a client
 * @property {string} address
 * @property {string} kind
 * @property {string} family
 * @property {number} bytes
 * @property {boolean} readable
 * @property {string} text Beginning of the datagram
 * @property {string} hex The complete datagram; empty above 2,000 bytes
 */

/**
 * @typedef {Object} Lately
 * @property {number} as_of_unix_us
 * @property {LastMessage[]} messages
 * @property {Entry[]} entries
 */

/**
 * @typedef {Object} Launch
 * @property {string[]} runs
 * @property {number} count
 * @property {number} estimated_s
 */

/**
 * @typedef {Object} LaunchBodyRequest
 * @property {number} [if_runs] Launch only if the experiment has this many runs, not counting what-if runs; else 409.
 * @property {boolean} [skip_existing] Leave out every run for which a finished one stands: same configuration, seed and code
 */

/**
 * @typedef {Object} LaunchEstimate
 * @property {string} engine
 * @property {number} configurations
 * @property {number} replicates
 * @property {number} count Number of runs of a launch
 * @property {number} estimated_s Seconds they take, without the queue
 * @property {string} basis Basis of the estimate for simulated runs; empty for live runs
 * @property {Record<string, any>} axes
 * @property {number} runs_ahead Unfinished runs ahead in the queue
 * @property {number} ahead_s Seconds until those have ended
 * @property {number} disk_bytes
 * @property {string[]} to_make Names of topologies created with the experiment
 * @property {string} warning Warning before the launch; empty if none
 */

/**
 * @typedef {Object} Left
 * @property {string} step
 * @property {number[]} brokers
 * @property {string} words
 */

/**
 * @typedef {Object} Link
 * @property {number} a
 * @property {number} b
 * @property {number} [delay_ms] One-way delay.
 * @property {number} [jitter_ms] Uniform variation of the delay in both directions; at most the delay.
 * @property {number} [loss] Share of datagrams lost.
 * @property {number} [loss_burst] Mean length of a loss burst (Gilbert model); 0 makes losses independent.
 * @property {number} [loss_burst_limit] Maximum length of a loss burst, which makes the actual loss a little lower; 0 sets no limit.
 * @property {number} [duplication] Probability of another copy, up to 5 in all.
 * @property {number} [reordering] Share of datagrams held back, so that later ones overtake them.
 * @property {number} [reordering_ms] How long a datagram is held back.
 * @property {number} [corruption] Share of copies with one bit flipped.
 * @property {number} [rate_bytes_per_s] Capacity; 0 is unlimited.
 * @property {number} [queue_bytes] Queue in front of the rate limit.
 */

/**
 * @typedef {Object} LinkBodyRequest
 * @property {boolean} [dry_run] Only list the steps
 * @property {boolean} [allow_split] Also if some brokers can no longer reach each other
 * @property {number | null} [version] The version that was read; 409 if there is a newer one
 * @property {number} a Index of a broker
 * @property {number} b Index of another broker
 */

/**
 * @typedef {Object} ListedContext
 * @property {string} provider
 * @property {Record<string, any> | null} payload The payload's pairs; null if the text is not made of pairs
 * @property {string} text The payload as stored
 * @property {string} valid_begin
 * @property {string} valid_end
 * @property {number} age_ms Milliseconds since it was stored
 * @property {string | null} broker A broker that holds it, host:port
 * @property {number | null} broker_index Its index in the network
 * @property {number | null} hops 0 if the queried broker has the data; null if only a trace can tell
 * @property {StrategyEnum} strategy How the broker was chosen: one known to have the data, the first of the entity's order, the next one, a second one while the first was silent, or the one requested; in lists view: no broker was queried * `holder` - holder * `walk` - walk * `next` - next * `hedged` - hedged * `chosen` - chosen * `view` - view
 * @property {string | null} walk URL of its walk and hops, available within 2 s, for traced queries
 * @property {string} type
 * @property {string} entity
 * @property {string} scope
 * @property {number[]} holders Indexes of all brokers that hold it
 * @property {string} etag As `ETag` of the entry
 */

/**
 * @typedef {Object} Lookup
 * @property {FoundProvider[]} results
 */

/**
 * @typedef {Object} MadeToken
 * @property {string} id
 * @property {string} [name]
 * @property {ScopeEnum} [scope]
 * @property {string[] | null} networks
 * @property {string} token_key
 * @property {string} created
 * @property {string | null} last_used To the minute
 * @property {string | null} [expiry]
 * @property {string} token Shown once
 */

/**
 * @typedef {Object} Map
 * @property {string} arm
 * @property {number} side_km Of the map
 * @property {number} radius_km Half the side of a subscriber's square
 * @property {number} begin_us Of measuring
 * @property {number} end_us Of measuring
 * @property {number} from_us Begin of the window
 * @property {number} until_us End of the window
 * @property {Track[]} vehicles The first 100 subscribers
 * @property {Track[]} cameras The first 50 publishers
 * @property {MapNotification[]} notifications
 * @property {MapSent[]} sent
 * @property {number} changes Contexts that these subscribers set in the window
 * @property {number} left_out Places beyond 10,000 and notifications beyond 3,000
 */

/**
 * @typedef {Object} MapNotification
 * @property {string} camera The publisher
 * @property {number} number Of the publication
 * @property {string} vehicle The subscriber
 * @property {number} published_us
 * @property {number} received_us
 * @property {number} x Of the publisher in this publication, km
 * @property {number} y km
 * @property {number | null} distance_km In x or in y, whichever is more, from where the subscriber was when it came
 */

/**
 * @typedef {Object} MapSent
 * @property {number} at_us
 * @property {number} setctx
 * @property {number} subscribe
 * @property {number} unsubscribe
 */

/**
 * @typedef {Object} Measure
 * @property {string} name
 * @property {string} title
 * @property {string} unit us, ms, s, bytes, J, per_s, share, cores, or what is counted; empty: a number
 * @property {string} definition
 * @property {BetterEnum | BlankEnum} better Empty where neither way is better * `lower` - lower * `higher` - higher * `` -
 */

/**
 * @typedef {"answered_share" | "p50_us" | "p95_us" | "mean_us" | "hops" | "answers_per_s" | "load_per_s" | "cores" | "private_bytes"} MeasureEnum
 */

/**
 * @typedef {Object} Message
 * @property {number} at_us Send time; for a client's message, arrival time
 * @property {number | null} arrived_us Null if its arrival was not recorded
 * @property {number | null} sender Index of a broker; null for a client
 * @property {number | null} receiver
 * @property {number} code Message code of the wire protocol; -1 if unreadable
 * @property {string} kind
 * @property {FamilyEnum} family
 * @property {number} bytes
 * @property {boolean} lost Sent to a recording broker and never arrived
 * @property {string | null} query Query id, as in traces
 * @property {string} text Beginning of the datagram
 */

/**
 * @typedef {Object} MessageList
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {Message[]} results
 */

/**
 * @typedef {Object} MessageQueue
 * @property {string} queue
 * @property {number} recipients
 * @property {number} delivered
 * @property {number | null} propagation In which they left
 * @property {string} state Why there is none
 */

/**
 * @typedef {Object} MessageStep
 * @property {number} at_us
 * @property {string} step
 * @property {number} attempt Number of the injection into the chain, from 0
 */

/**
 * @typedef {Object} MessageWay
 * @property {string} id
 * @property {number | null} client The sender; null if it reported nothing
 * @property {string} outcome
 * @property {number} attempts
 * @property {number} due_us
 * @property {number} sent_us
 * @property {number} ended_us
 * @property {string | null} epoch Null with number and accepted_us if it was not accepted
 * @property {number | null} number
 * @property {number | null} accepted_us
 * @property {number} due Recipients; the next four add up to it
 * @property {number} delivered
 * @property {number} retained
 * @property {number} dropped
 * @property {number} failed
 * @property {number} late
 * @property {number | null} p50_us Of the lag
 * @property {number | null} p95_us
 * @property {Propagation[]} propagations In the list of a run: their number
 * @property {boolean} traced
 * @property {MessageQueue[]} queues If it was traced
 * @property {Undelivered[]} undelivered
 */

/**
 * @typedef {Object} MissingBroker
 * @property {string | null} broker host:port
 * @property {number} broker_index
 * @property {string} reason Its state if it does not run, or `unread`, `silent`, `refused` (it does not trust this host), `full`
 */

/**
 * @typedef {Object} MobileApplication
 * @property {string} name
 * @property {string} created
 */

/**
 * @typedef {Object} MobileApplicationPage
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {MobileApplication[]} results
 */

/**
 * @typedef {Object} MobileBroker
 * @property {number} index
 * @property {MobileBrokerStateEnum} state
 * @property {string} endpoint
 * @property {number} epoch
 * @property {number} clients
 * @property {Store[]} by_neighbours
 * @property {Store[]} by_itself
 * @property {Record<string, any> | null} bulk {waiting, omega, leaves_in_ms}; null without bulk mode
 * @property {(Record<string, any>)[]} waiting The first 50 subscriptions of the bulk queue
 * @property {string} trouble
 */

/**
 * @typedef {"connected" | "connecting" | "offline" | "away" | "down"} MobileBrokerStateEnum
 */

/**
 * @typedef {Object} MobileDiscarded
 * @property {string} id Of the message
 * @property {string} node Which it was for
 * @property {ReasonEnum} reason expired: its time was over; evicted: the store was full * `expired` - expired * `evicted` - evicted
 * @property {string} at When it was dropped
 */

/**
 * @typedef {Object} MobileDiscardedPage
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {MobileDiscarded[]} results
 */

/**
 * @typedef {Object} MobileMessageBodyRequest
 * @property {string} [node] To this node.
 * @property {string} [group] To the nodes of a group: DEFINER/GROUP or GROUP
 * @property {boolean} [all] To all nodes that are connected
 * @property {string} [text] What is sent, at most 60,000 bytes
 * @property {string} [base64] The same of any bytes
 * @property {number} [ttl_s] How long it is stored for a node that is away.
 * @property {string} [application] Which sends it; made at its first use
 */

/**
 * @typedef {Object} MobileNewUser
 * @property {string} name Of the application
 * @property {string[]} topics Which it may listen to
 * @property {string} group In which it listens; empty without topics
 * @property {string[]} to Of nodes, groups, all, mqtt
 * @property {string} log Address of the log with the user and its password, told here only
 * @property {boolean} is_kept Whether the engine of the log has the user when it starts again
 */

/**
 * @typedef {Object} MobileNode
 * @property {string} node Its id, 32 hexadecimal digits
 * @property {boolean} connected Also while its gateway waits for its return
 * @property {string} gateway Where it is, or was last
 * @property {number} epoch Rises with each connection
 * @property {boolean} is_revoked Whether an operator has revoked its secret
 */

/**
 * @typedef {Object} MobileNodePage
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {MobileNode[]} results
 */

/**
 * @typedef {Object} MobileSecret
 * @property {string} node Its id, 32 hexadecimal digits
 * @property {string} secret 64 hexadecimal digits
 */

/**
 * @typedef {Object} MobileSent
 * @property {string} id Of the message
 * @property {string} application
 * @property {string} topic Of the log, which has it
 * @property {boolean} is_stored Whether the node is away: it is kept until it returns or expires
 */

/**
 * @typedef {Object} MobileSubscription
 * @property {number} notified Notifications received
 * @property {number} delivered Of these, delivered to the URL
 * @property {number} given_up Of these, not delivered after all attempts
 * @property {string | null} last_notified
 * @property {string | null} last_failure
 * @property {string} failure The last failure of a delivery
 * @property {string} stream Its notifications as server-sent events; of a new one, from the first on
 * @property {string} id
 * @property {string} application
 * @property {string} topic
 * @property {string} node Empty: of all nodes
 * @property {string} url
 * @property {string} created
 */

/**
 * @typedef {Object} MobileSubscriptionBodyRequest
 * @property {string} [topic] inbound, or one of the network's allowed_topics
 * @property {string} [node] Only its messages
 * @property {string} [application] Which listens; made at its first use
 * @property {string} [url] Is sent messages by POST
 */

/**
 * @typedef {Object} MobileSubscriptionPage
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {MobileSubscription[]} results
 */

/**
 * @typedef {Object} MobileUser
 * @property {string} name Of the application
 * @property {string[]} topics Which it may listen to
 * @property {string} group In which it listens; empty without topics
 * @property {string[]} to Of nodes, groups, all, mqtt
 */

/**
 * @typedef {Object} MobileUserBodyRequest
 * @property {string[]} [topics] Which it may listen to: inbound, and the network's allowed_topics and mqtt_topics; may be empty
 * @property {string} [group] In which it listens; its members share the messages
 * @property {string[]} [to] Whom it may send to, of nodes, groups, all, mqtt; may be empty
 */

/**
 * @typedef {Object} MobileUserPage
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {MobileUser[]} results
 */

/**
 * @typedef {Object} Moment
 * @property {number} at_us
 * @property {number} connections Nodes
 * @property {number} pool_used Records on their way to nodes
 * @property {number} parked Records parked at silent nodes
 * @property {number} log_lag_ms Age of the oldest record it read since the last report but one
 * @property {number} is_busy
 * @property {number} is_draining
 */

/**
 * @typedef {"found_local" | "found_remote" | "not_found_proved" | "not_found_ttl" | "dead_end" | "lost" | "broker_gone" | "expired" | "timed_out" | "refused" | "unknown"} NameEnum
 */

/**
 * @typedef {Object} Neighbour
 * @property {number | null} index
 * @property {string} address
 * @property {NeighbourStateEnum} state linked: taken from the topology, not reported by the server; retired: of an earlier tree * `joined` - joined * `lost` - lost * `left` - left * `refused` - refused * `linked` - linked * `connecting` - connecting * `away` - away * `retired` - retired
 * @property {number | null} since_s Seconds since the launch
 */

/**
 * @typedef {"joined" | "lost" | "left" | "refused" | "linked" | "connecting" | "away" | "retired"} NeighbourStateEnum
 */

/**
 * @typedef {Object} Network
 * @property {string} id
 * @property {string} name
 * @property {string | null} topology
 * @property {string} system
 * @property {Record<string, any>} settings
 * @property {number} [seed]
 * @property {DesiredEnum} [desired]
 * @property {NetworkState} state
 * @property {string} reason
 * @property {Broker[]} brokers
 * @property {string} [host]
 * @property {number} epoch Increases with every start; fences off older ones
 * @property {number} version Increases with every change of deployed, settings or members
 * @property {string} [owner]
 * @property {string} created
 * @property {string} changed Time of the last state change
 * @property {number[]} restarting Indexes of brokers with a pending restart
 */

/**
 * @typedef {Object} NetworkBodyRequest
 * @property {string} name
 * @property {string | null} [topology] A topology's id; none: the default of the system
 * @property {string} [system] Name of a system, see /api/systems/
 * @property {Record<string, any>} [settings]
 * @property {number} [seed]
 */

/**
 * @typedef {Object} NetworkBroker
 * @property {number} index
 * @property {number} traced_one_in One query in this many is traced; 0: none
 * @property {Record<string, any>} now Its row in the network's `brokers`, with load and memory if known
 * @property {OwnWords | null} own Null if it does not answer
 */

/**
 * @typedef {Object} NetworkChange
 * @property {number} version That of the network with this change; unchanged if nothing differs
 * @property {boolean} dry_run
 * @property {Step[]} steps From the network as last observed; empty while it does not run
 * @property {string[]} remarks What to know before
 * @property {number[]} added Indices of new brokers
 */

/**
 * @typedef {Object} NetworkClient
 * @property {string} id
 * @property {string} address
 * @property {boolean} is_reachable
 * @property {number | null} silent_ms Since the last sign of life; null: unknown
 * @property {number} pending Messages retained for it
 * @property {string} attributes JSON, shortened
 * @property {Record<string, any>} own Further fields of the system
 */

/**
 * @typedef {Object} NetworkClientList
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {NetworkClient[]} results
 */

/**
 * @typedef {Object} NetworkEvent
 * @property {string} at
 * @property {string} words
 * @property {string} kind phase, process, fault or other
 * @property {number} count Number of identical events merged into it
 */

/**
 * @typedef {Object} NetworkGateway
 * @property {number} index
 * @property {NetworkGatewayStateEnum} state
 * @property {number | null} nodes Its connections; null if it does not answer
 * @property {number | null} under_way Records on their way to its nodes
 * @property {number | null} log_lag_ms
 * @property {boolean | null} ordered What has not reached it yet: to be drained (true), to take nodes again (false)
 */

/**
 * @typedef {"takes nodes" | "draining" | "drained" | "down"} NetworkGatewayStateEnum
 */

/**
 * @typedef {Object} NetworkQueue
 * @property {string} queue What its messages wait for, in the words of the system
 * @property {number} recipients
 * @property {number} messages
 * @property {number} oldest_ms Age of the oldest message
 * @property {number | null} leaves_in_ms At the latest; null: no time is set
 * @property {string} leaves What it waits for, as a phrase
 * @property {Record<string, any>} own Further fields of the system
 */

/**
 * @typedef {Object} NetworkQueueList
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {NetworkQueue[]} results
 */

/**
 * @typedef {Object} NetworkSeries
 * @property {RangeEnum} range
 * @property {number} step_s
 * @property {number | null} broker Null: all brokers together
 * @property {number[]} t Start of each step, Unix seconds
 * @property {(number | null)[]} asked Probes: one ping per broker and second
 * @property {(number | null)[]} answered Probes answered within 0.9 s
 * @property {(number | null)[]} answered_share Answered of asked, 0 to 1
 * @property {(number | null)[]} mean_us Mean response time of answered probes; null if none
 * @property {(number | null)[]} p50_us Median of the response times
 * @property {(number | null)[]} p95_us 95th percentile of the response times
 * @property {(number | null)[]} answers_per_s Queries that a broker answered from its table, per second
 * @property {(number | null)[]} hops Mean number of hops of these queries; null without any
 * @property {(number | null)[]} load_per_s Messages that make up the load of this system's servers, per second
 * @property {(number | null)[]} cores 1 is one busy core; sum over all brokers
 * @property {(number | null)[]} private_bytes Private memory (USS); sum over all brokers
 */

/**
 * @typedef {"starting" | "running" | "degraded" | "stopping" | "stopped" | "failed"} NetworkState
 */

/**
 * @typedef {Object} NewTopologyBodyRequest
 * @property {boolean} [dry_run] Only list the steps
 * @property {boolean} [allow_split] Also if some brokers can no longer reach each other
 * @property {number | null} [version] The version that was read; 409 if there is a newer one
 * @property {string | null} [topology] A topology's id; none: the newest version of its own
 */

/**
 * @typedef {Object} Node
 * @property {number} index
 * @property {string} [name]
 * @property {number | null} [x]
 * @property {number | null} [y]
 */

/**
 * @typedef {Object} NodeMessage
 * @property {string} id
 * @property {string} direction inbound: from the node; outbound: to it
 * @property {number} node
 * @property {number} number Among those of this node and direction, from 0
 * @property {NodeMessageOutcomeEnum} outcome
 * @property {number} at_us When it was due
 * @property {number | null} us RTT: until its answer
 * @property {boolean} stored Whether it, or its answer, was stored
 * @property {boolean} disconnecting Whether its node is off from time to time
 * @property {boolean} traced
 * @property {NodeMessageStep[]} steps If it was traced
 * @property {NodeMessagePassage[]} passages
 */

/**
 * @typedef {"delivered" | "late" | "expired" | "evicted" | "refused" | "lost"} NodeMessageOutcomeEnum
 */

/**
 * @typedef {Object} NodeMessagePassage
 * @property {string} kind DATA, or topic and partition of a record
 * @property {string} sender
 * @property {string} receiver
 * @property {number} sent_us
 * @property {number | null} arrived_us Null if only its sending is known
 * @property {boolean} is_lost Whether its arrival should be known and is not
 * @property {number} number In the order of sending, from 1
 */

/**
 * @typedef {Object} NodeMessageStep
 * @property {number} at_us
 * @property {string} id Of the message, or of its answer
 * @property {boolean} is_answer
 * @property {string} place Node, gateway, application or store
 * @property {NodeMessageStepStepEnum} step
 * @property {string} topic To which it was written, or in which it was read
 * @property {number} partition Where it was read; otherwise -1
 * @property {number} position Where it was read; otherwise -1
 * @property {number} appended_us When the record that was read became durable; otherwise 0
 * @property {string} detail Why it was given to the store
 */

/**
 * @typedef {"sent" | "accepted" | "received" | "appended" | "read" | "acknowledged" | "given up" | "unsent" | "stored" | "sent on" | "expired" | "evicted"} NodeMessageStepStepEnum
 */

/**
 * @typedef {Object} NodePlace
 * @property {number} at_us When it set this context
 * @property {number} x km
 * @property {number} y km
 */

/**
 * @typedef {Object} NodeReceipt
 * @property {number} node
 * @property {number} received_us
 */

/**
 * @typedef {Object} NodeTrack
 * @property {number} node
 * @property {NodePlace[]} places The first is from before the window
 */

/**
 * @typedef {"run_failed" | "experiment_finished" | "thresholds_broken" | "report_done" | "report_failed" | "network_degraded" | "alarm" | "disk_nearly_full" | "test"} NoticeKind
 */

/**
 * @typedef {Object} Notification
 * @property {string} provider
 * @property {number} number Rises with each notification of its provider
 * @property {string} entity_type
 * @property {string} entity_id
 * @property {string} scope
 * @property {string} timestamp
 * @property {string} expires
 * @property {Record<string, any>} data
 */

/**
 * @typedef {null} NullEnum
 */

/**
 * @typedef {Object} OneEngine
 * @property {OverRuns} p50
 * @property {OverRuns} p95
 */

/**
 * @typedef {"get" | "put" | "delete"} OpEnum
 */

/**
 * @typedef {Object} Operation
 * @property {string} id
 * @property {string} at When the request came
 * @property {number} took_us From the request to its answer, µs; of a batch, of all of it
 * @property {string} [who] Name of the account; empty: not logged in
 * @property {string} [token] Prefix of the token, if by one
 * @property {string} via Interface
 * @property {string} op get, put, delete, batch, or another one of the interface
 * @property {string} [key] Names of what it is about, with | between
 * @property {Record<string, string>} about The names of what it is about, as in its URL
 * @property {string} provider
 * @property {number | null} broker_index The broker that was asked
 * @property {OperationOutcomeEnum} outcome
 * @property {number} status As in HTTP
 * @property {number | null} [hops]
 * @property {string} strategy How the broker was chosen, as in the answer
 * @property {string | null} walk URL of its walk; null if it was not traced
 * @property {string} [sentence] Why it was not done
 * @property {number} [count] Above 1: so many operations are missing here
 */

/**
 * @typedef {"done" | "unchanged" | "not_found" | "precondition" | "refused" | "forbidden" | "no_answer" | "failed" | "lost"} OperationOutcomeEnum
 */

/**
 * @typedef {Object} Outcome
 * @property {string} before
 * @property {string} after
 * @property {number} requests
 */

/**
 * @typedef {"requests" | "seeds"} OverEnum
 */

/**
 * @typedef {Object} OverRuns
 * @property {number} value
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} n
 */

/**
 * @typedef {Object} OwnWords
 * @property {number} index
 * @property {string} address
 * @property {number} lives Number of process starts
 * @property {boolean} [asked] True if the server was queried; t_s is then its own clock
 * @property {number} t_s Seconds since the launch of its newest report
 * @property {number} as_of_unix_us
 * @property {Record<string, any>} counters Since its process started; only values above 0
 * @property {Record<string, any>} gauges
 * @property {Neighbour[]} neighbours
 * @property {BrokerStep[]} steps Its steps in traced queries, newest first; at most 20
 * @property {TracedMessage[]} messages Messages of traced queries, newest first; at most 20
 * @property {KnownEntry[]} entries Newest first; at most 30, without expired ones
 * @property {Held | null} held
 */

/**
 * @typedef {Object} PaginatedAccountList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Account[]} results
 */

/**
 * @typedef {Object} PaginatedAlarmEventList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {AlarmEvent[]} results
 */

/**
 * @typedef {Object} PaginatedChangeList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Change[]} results
 */

/**
 * @typedef {Object} PaginatedDeliveryList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Delivery[]} results
 */

/**
 * @typedef {Object} PaginatedExperimentList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Experiment[]} results
 */

/**
 * @typedef {Object} PaginatedFiringList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Firing[]} results
 */

/**
 * @typedef {Object} PaginatedHostList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Host[]} results
 */

/**
 * @typedef {Object} PaginatedNetworkList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Network[]} results
 */

/**
 * @typedef {Object} PaginatedOperationList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Operation[]} results
 */

/**
 * @typedef {Object} PaginatedPresetList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Preset[]} results
 */

/**
 * @typedef {Object} PaginatedReportSummaryList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {ReportSummary[]} results
 */

/**
 * @typedef {Object} PaginatedRunEventList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {RunEvent[]} results
 */

/**
 * @typedef {Object} PaginatedRunSummaryList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {RunSummary[]} results
 */

/**
 * @typedef {Object} PaginatedSavedViewList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {SavedView[]} results
 */

/**
 * @typedef {Object} PaginatedScheduleList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Schedule[]} results
 */

/**
 * @typedef {Object} PaginatedStudySummaryList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {StudySummary[]} results
 */

/**
 * @typedef {Object} PaginatedSystemList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {System[]} results
 */

/**
 * @typedef {Object} PaginatedTagList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Tag[]} results
 */

/**
 * @typedef {Object} PaginatedTargetList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Target[]} results
 */

/**
 * @typedef {Object} PaginatedTokenList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Token[]} results
 */

/**
 * @typedef {Object} PaginatedTopologySummaryList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {TopologySummary[]} results
 */

/**
 * @typedef {Object} PaginatedVersionList
 * @property {number} count
 * @property {string | null} [next]
 * @property {string | null} [previous]
 * @property {Version[]} results
 */

/**
 * @typedef {Object} PatchedAccountBodyRequest
 * @property {AccountBodyRoleEnum} [role]
 * @property {boolean} [is_active] Whether it may log in and use its tokens
 * @property {Record<string, "read" | "write">} [networks] Replaces the rights on single networks: level by network id
 */

/**
 * @typedef {Object} PatchedBridgeChangeRequest
 * @property {string} [username]
 * @property {string | null} [password] Never shown; null: none
 * @property {BridgeTlsBodyRequest} [tls] Of mqtts://; without ca the system's authorities count
 * @property {Record<string, any>} [settings] Further settings, by the names in docs/mqtt.md; null removes one
 * @property {DesiredEnum} [desired]
 * @property {string} [mqtt] The server: mqtt://HOST:PORT, or mqtts:// for TLS
 * @property {(string | Record<string, any>)[]} [in] Patterns of topics to read: texts, or objects with pattern, and names for placeholders that it has not
 * @property {(string | Record<string, any>)[]} [out] Patterns of topics to publish
 */

/**
 * @typedef {Object} PatchedLabelsBodyRequest
 * @property {string} [note] At most 4,000 characters
 * @property {string[]} [tags] The complete list of tags
 * @property {boolean} [kept] Exempt from retention
 */

/**
 * @typedef {Object} PatchedNetworkPatchRequest
 * @property {boolean} [dry_run] Only list the steps
 * @property {boolean} [allow_split] Also if some brokers can no longer reach each other
 * @property {number | null} [version] The version that was read; 409 if there is a newer one
 * @property {string} [name]
 * @property {Record<string, any>} [settings] Settings to change; the others stay
 */

/**
 * @typedef {Object} PatchedPolicyBodyRequest
 * @property {number | null} [max_days]
 * @property {number | null} [max_gb]
 * @property {number} [least_free_gb]
 * @property {boolean} [include_simulated]
 * @property {boolean} [include_reports]
 * @property {number} [change_days]
 * @property {number} [most_changes]
 */

/**
 * @typedef {Object} PatchedRenameBodyRequest
 * @property {string} [name]
 */

/**
 * @typedef {Object} PatchedScheduleChangeRequest
 * @property {string} [name]
 * @property {string[]} [experiments]
 * @property {string} [crontab]
 * @property {number | null} [every_s]
 * @property {boolean | null} [enabled]
 */

/**
 * @typedef {Object} PatchedTagBodyRequest
 * @property {string} [name] New name; if another tag has it, the two are merged
 */

/**
 * @typedef {Object} PatchedTargetChangeRequest
 * @property {string} [name]
 * @property {string} [address]
 * @property {string[]} [kinds]
 * @property {string} [secret]
 * @property {boolean} [enabled]
 */

/**
 * @typedef {Object} PatchedThresholdsBodyRequest
 * @property {string[]} [thresholds] Complete list of conditions: ["p95 < 2ms", "not_found = 0"]; empty: none
 */

/**
 * @typedef {Object} PatchedTopologyBodyRequest
 * @property {string} [name]
 * @property {string} [kind] One of the kinds of GET /api/topologies/kinds/
 * @property {number} [brokers] Number of brokers; kind central has one
 * @property {Record<string, any>} [params] Parameters of the generator, and conditions of every link
 * @property {number} [seed]
 * @property {(number[] | { a: number, b: number, delay_ms?: number, jitter_ms?: number, loss?: number, loss_burst?: number, loss_burst_limit?: number, duplication?: number, reordering?: number, reordering_ms?: number, corruption?: number, rate_bytes_per_s?: number, queue_bytes?: number })[]} [links] For kind custom: [[a, b], …]
 */

/**
 * @typedef {Object} Place
 * @property {number} at_us When it set this context
 * @property {number} x km
 * @property {number} y km
 */

/**
 * @typedef {Object} Placed
 * @property {number} message From 1
 * @property {string} recipient
 * @property {string} dimension Of the queue that it joins: volume, people, time
 * @property {number} limit
 * @property {number | null} left_s When it leaves; null: not with these messages
 * @property {number[]} together The messages of its aggregate
 */

/**
 * @typedef {Object} Policy
 * @property {number | null} max_days Delete files of runs that ended earlier; null: no limit
 * @property {number | null} max_gb Maximum size of all files of ended runs; the oldest are deleted first; null: no limit
 * @property {number} least_free_gb Minimum free space to launch
 * @property {boolean} include_simulated Also delete cached simulations
 * @property {boolean} include_reports Also delete files of reports; their pages are kept
 * @property {number} change_days Delete rows of the change log that are older
 * @property {number} most_changes Maximum number of rows of the change log
 * @property {string} mark Mark of the current values.
 */

/**
 * @typedef {Object} PolicyBodyRequest
 * @property {number | null} [max_days]
 * @property {number | null} [max_gb]
 * @property {number} [least_free_gb]
 * @property {boolean} [include_simulated]
 * @property {boolean} [include_reports]
 * @property {number} [change_days]
 * @property {number} [most_changes]
 */

/**
 * @typedef {"backtrack" | "avoid" | "uniform" | "noback"} PolicyEnum
 */

/**
 * @typedef {Object} Preset
 * @property {string} name
 * @property {string} title
 * @property {string} summary
 * @property {string} engine
 * @property {number} configurations
 * @property {number} runs
 * @property {Record<string, any>} definition A body of POST /api/experiments/ with inline topologies
 */

/**
 * @typedef {"low" | "normal" | "high"} PriorityEnum
 */

/**
 * @typedef {Object} Problem
 * @property {string} type `urn:problem-type:waxwing:CODE`
 * @property {string} title Phrase of the status
 * @property {number} status
 * @property {string} detail The first error
 * @property {string} instance The path that was requested
 * @property {ProblemEntry[]} errors
 */

/**
 * @typedef {Object} ProblemEntry
 * @property {string} field
 * @property {string} code
 * @property {string} detail
 */

/**
 * @typedef {Object} Propagation
 * @property {number} number
 * @property {number} emitted_us
 * @property {number[]} messages Numbers of its originals
 * @property {number} recipients
 * @property {number} pushes
 * @property {number} chain_count
 * @property {number[]} direct Recipients of direct pushes, if traced
 * @property {Chain[]} chains Those that were traced, with trouble first
 */

/**
 * @typedef {Object} Provided
 * @property {string} broker The broker that accepted it, host:port
 * @property {number} broker_index Its index in the network
 * @property {string} valid_begin
 * @property {string} valid_end
 */

/**
 * @typedef {Object} Provider
 * @property {string} name
 * @property {string[]} scopes
 * @property {Record<string, any>} needs
 * @property {string} url
 * @property {number | null} broker
 * @property {string} created
 */

/**
 * @typedef {Object} ProviderBodyRequest
 * @property {string} name Unique in the network
 * @property {string[]} scopes
 * @property {Record<string, any>} [needs] By scope, a list of scopes whose data it needs first
 * @property {string} [url] Is asked by GET ?entity=&type=&scope=
 * @property {number} [broker] Index of the broker to begin with
 */

/**
 * @typedef {Object} ProviderPage
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {Provider[]} results
 */

/**
 * @typedef {Object} PublicationAgainst
 * @property {string} client
 * @property {number} subscriptions
 * @property {number} candidates Of these, whose content matches
 * @property {string} says What says no
 */

/**
 * @typedef {Object} PublicationDelivery
 * @property {string} client
 * @property {number[]} subscriptions
 * @property {number} received_us
 */

/**
 * @typedef {Object} PublicationMessage
 * @property {string} kind
 * @property {string} sender
 * @property {string} receiver
 * @property {number} sent_us
 * @property {number | null} arrived_us Null if only its sending is known
 * @property {boolean} is_lost Whether its arrival should be known and is not
 * @property {number | null} number Among the messages between brokers, from 1
 */

/**
 * @typedef {Object} PublicationStep
 * @property {number} at_us
 * @property {string} broker
 * @property {string} step
 * @property {string} peer The broker or client at the other end
 * @property {number[]} subscriptions Of the client, as numbered on the wire; at most 64
 * @property {number} candidates Subscriptions of the peer, or of all, that match its content
 * @property {number} rows Of so many
 * @property {string} detail What says no
 */

/**
 * @typedef {Object} PublicationWay
 * @property {string} id
 * @property {string} publisher
 * @property {number} number
 * @property {string} attributes Names, with commas
 * @property {number} at_us Its intended instant
 * @property {number | null} us From there until its last delivery
 * @property {PublicationWayOutcomeEnum} outcome
 * @property {number} due Clients that should get it
 * @property {number} delivered Clients that got it
 * @property {number} kept Of them, those that were away meanwhile
 * @property {number} lost
 * @property {number} excused Not delivered because of a fault or the limits of what is kept
 * @property {string} causes Of what is excused: fault, kept
 * @property {number} spurious Clients that should not have got it
 * @property {number} repeats Copies that an application got
 * @property {boolean} traced
 * @property {number} sent_us When the application called publish
 * @property {Record<string, any>} notification
 * @property {Record<string, any>} context All of the publisher's
 * @property {string} scope The publisher's function
 * @property {PublicationStep[]} steps If it was traced
 * @property {PublicationMessage[]} messages
 * @property {PublicationDelivery[]} deliveries
 * @property {PublicationAgainst[] | null} without Subscribers that did not get it, by what they had set when it was published; null: too many
 */

/**
 * @typedef {"delivered" | "undelivered" | "refused"} PublicationWayOutcomeEnum
 */

/**
 * @typedef {Object} PublishBodyRequest
 * @property {string} entity_type
 * @property {string} entity_id
 * @property {string} scope
 * @property {Record<string, any>} data Texts, numbers, booleans, objects and lists by name
 * @property {number} [valid_ms] From now; or expires
 * @property {string} [expires] 2026-11-29T12:00:00Z
 * @property {string} [timestamp] Default: now
 * @property {string} provider A provider that this account has registered
 */

/**
 * @typedef {Object} PubsubBroker
 * @property {string} broker
 * @property {PubsubLink[]} to Where the publication would go
 * @property {PubsubRow[]} rows Subscriptions whose content it satisfies, at most 200
 * @property {number} total Of these rows
 * @property {PubsubTold[]} told What neighbours know of the subscriber's
 */

/**
 * @typedef {Object} PubsubClient
 * @property {string} name
 * @property {Record<string, any> | null} context null: none was set
 * @property {boolean} is_publisher Whether it advertises
 * @property {string[]} variables Of its context, that go with publications
 * @property {number | null} broker
 * @property {string} identity As brokers know it
 * @property {string} created
 */

/**
 * @typedef {Object} PubsubClientBodyRequest
 * @property {Record<string, any>} [context] Values by name, such as {"x": 5, "y": 8}; by default as it is
 * @property {number | null} [broker] Index of the one where it is from now on; null: any
 */

/**
 * @typedef {Object} PubsubClientPage
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {PubsubClient[]} results
 */

/**
 * @typedef {Object} PubsubLink
 * @property {PubsubLinkKindEnum} kind
 * @property {string} name
 * @property {string | null} client The name of an own client
 * @property {number | null} away_s Seconds since the client left: what goes to it is kept for a while; null: attached
 */

/**
 * @typedef {"broker" | "client" | "moved"} PubsubLinkKindEnum
 */

/**
 * @typedef {Object} PubsubPublicationBodyRequest
 * @property {Record<string, any>} notification Values by name, such as {"kind": "fire"}
 * @property {Record<string, any>} [context] Of its publisher from now on; by default as it is.
 * @property {string} [scope] The publisher's function, with publisher_scope
 * @property {string} [client] Made at its first use
 */

/**
 * @typedef {Object} PubsubPublished
 * @property {string} client
 * @property {string} broker Which received it
 */

/**
 * @typedef {Object} PubsubRow
 * @property {string} subscriber Its key, as with notifications
 * @property {number} id At its subscriber
 * @property {string | null} subscription An own one, at the broker of its client
 * @property {PubsubLink} link By which it came
 * @property {string | null} says_no The constraint or function; null: it would go there
 */

/**
 * @typedef {"active" | "refused"} PubsubState
 */

/**
 * @typedef {Object} PubsubSubscription
 * @property {number} notified Notifications received
 * @property {number} delivered Of these, delivered to the URL
 * @property {number} given_up Of these, not delivered after all attempts
 * @property {string | null} last_notified
 * @property {string | null} last_failure
 * @property {string} failure The last failure of a delivery
 * @property {string} stream Its notifications as server-sent events; of a new one, from the first on
 * @property {string} id
 * @property {string} client
 * @property {any[][]} where
 * @property {string} scope
 * @property {string} url
 * @property {PubsubState} state
 * @property {string} reason Why a broker refused it
 * @property {string} created
 * @property {string | null} ended
 */

/**
 * @typedef {Object} PubsubSubscriptionBodyRequest
 * @property {any[][]} [where] Constraints, such as [["kind", "=", "fire"]]; default: all
 * @property {string} [scope] A function of context: this.x - 20 <= pub.x <= this.x + 20
 * @property {string} [client] Made at its first use
 * @property {Record<string, any>} [context] Of its client from now on; by default as it is
 * @property {string} [url] Is sent notifications by POST
 */

/**
 * @typedef {Object} PubsubSubscriptionPage
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {PubsubSubscription[]} results
 */

/**
 * @typedef {Object} PubsubTold
 * @property {number} id
 * @property {string} broker The neighbour
 * @property {string} state told, covered, pruned, or not called for
 */

/**
 * @typedef {Object} PubsubWhy
 * @property {boolean} delivered Whether the subscriber, or anyone, would get it, now or when it is back
 * @property {PubsubBroker[]} brokers
 */

/**
 * @typedef {Object} PubsubWhyBodyRequest
 * @property {Record<string, any>} notification Values by name, such as {"kind": "fire"}
 * @property {Record<string, any>} [context] Of its publisher from now on; by default as it is.
 * @property {string} [scope] The publisher's function, with publisher_scope
 * @property {string} [client] One that has published such a thing
 * @property {string} [subscription] Of this account; all of its client's are listed at each broker
 */

/**
 * @typedef {Object} Queried
 * @property {Notification[]} notifications
 */

/**
 * @typedef {Object} QueryBodyRequest
 * @property {string[]} scopes
 * @property {string} [entity_type] Default: any
 * @property {string} [entity_id] Default: any
 * @property {number} [deadline_ms]
 */

/**
 * @typedef {Object} Queue
 * @property {boolean} paused True: queued runs are not launched; active runs continue
 * @property {string | null} since
 * @property {string} by User who paused the queue
 * @property {string} held Reason the queue is held: a pause or low disk space
 * @property {number} queued
 * @property {number} active
 * @property {number | null} ends_s Seconds until the last queued run ends; null if unknown
 */

/**
 * @typedef {"15m" | "3h" | "1d" | "14d"} RangeEnum
 */

/**
 * @typedef {"expired" | "evicted"} ReasonEnum
 */

/**
 * @typedef {Object} RecordedMessage
 * @property {number} bytes
 * @property {string} hex
 * @property {string} text As UTF-8, with replacement characters if it is not
 * @property {string} summary Its content in one line
 * @property {string} inside Content of its last field, inflated; empty in text messages
 * @property {string} read_as The detected form of the text
 * @property {number | null} code Null if unknown
 * @property {string} name
 * @property {WireField[]} fields
 * @property {string[]} missing Missing fields at the end
 * @property {string[]} problems
 * @property {Verdict} verdict
 * @property {number} number
 * @property {number} at_us Since the run's launch
 * @property {number | null} arrived_us Null if lost or unknown
 * @property {number | null} sender Index of a server; null for a client
 * @property {number | null} receiver
 * @property {string | null} sender_address Null if only indices are stored
 * @property {string | null} receiver_address
 * @property {boolean | null} lost Null if unknown
 * @property {string | null} query
 */

/**
 * @typedef {Object} RecordedPage
 * @property {number} count
 * @property {number} page
 * @property {number} pages
 * @property {boolean} is_cut Whether the run has more messages than can be listed; captures have all
 * @property {RecordedRow[]} results
 */

/**
 * @typedef {Object} RecordedRow
 * @property {number} number
 * @property {number} at_us
 * @property {number | null} arrived_us Null if lost or unknown
 * @property {number | null} sender Index of a server; null for a client
 * @property {number | null} receiver
 * @property {string | null} sender_address Null if only indices are stored
 * @property {string | null} receiver_address
 * @property {number} code -1 if unreadable
 * @property {string} kind
 * @property {string} family Of the replay; empty if its system has none
 * @property {number} bytes
 * @property {boolean | null} lost Null if unknown
 * @property {string | null} query
 * @property {string} text How it begins
 */

/**
 * @typedef {Object} RegionCast
 * @property {string} id
 * @property {number} region Row by row from the origin, from 0
 * @property {string} name The group: column:row
 * @property {number} due_us
 * @property {NodeReceipt[]} received
 */

/**
 * @typedef {Object} RegionMap
 * @property {number} side_km Of the map
 * @property {number} across Regions from one edge to the other
 * @property {number} begin_us Of measuring
 * @property {number} end_us Of measuring
 * @property {number} from_us Begin of the window
 * @property {number} until_us End of the window
 * @property {NodeTrack[]} nodes The first 100
 * @property {RegionCast[]} casts Messages to regions
 * @property {number} left_out Places beyond 10,000 and messages beyond 1,000
 */

/**
 * @typedef {Object} RemovalPlan
 * @property {number} runs
 * @property {number} simulated
 * @property {number} reports
 * @property {number} bytes
 */

/**
 * @typedef {Object} Repeat
 * @property {string} run
 * @property {string} digest Digest of that run; empty if it did not finish
 * @property {RepeatOutcomeEnum} outcome
 * @property {string} why Reason they are not comparable; empty if they are
 */

/**
 * @typedef {"identical" | "different" | "not comparable"} RepeatOutcomeEnum
 */

/**
 * @typedef {"one" | "all"} ReplicatesEnum
 */

/**
 * @typedef {Object} Report
 * @property {string} id
 * @property {ReportKind} [kind]
 * @property {ReportState} [state]
 * @property {string} [reason]
 * @property {string} [progress] What it is doing or waiting for
 * @property {string[]} runs
 * @property {string[]} experiments
 * @property {string | null} [schedule]
 * @property {boolean} [while_measuring] Compute even while a run is measuring on this host, which disturbs that run
 * @property {string} [owner]
 * @property {string} created
 * @property {string | null} [started_at]
 * @property {string | null} [ended_at]
 * @property {(Record<string, any>)[]} charts
 * @property {(Record<string, any>)[]} configurations Rows of the report's tables
 */

/**
 * @typedef {Object} ReportBodyRequest
 * @property {ReportKind} [kind]
 * @property {string[]} [runs]
 * @property {string[]} [experiments]
 * @property {boolean} [while_measuring] Compute even while a run is measured, which disturbs the measurement
 */

/**
 * @typedef {"comparison"} ReportKind
 */

/**
 * @typedef {"queued" | "running" | "done" | "failed"} ReportState
 */

/**
 * @typedef {Object} ReportSummary
 * @property {string} id
 * @property {ReportKind} [kind]
 * @property {ReportState} [state]
 * @property {string} [reason]
 * @property {string} [progress] What it is doing or waiting for
 * @property {string[]} runs
 * @property {string[]} experiments
 * @property {string | null} [schedule]
 * @property {boolean} [while_measuring] Compute even while a run is measuring on this host, which disturbs that run
 * @property {string} [owner]
 * @property {string} created
 * @property {string | null} [started_at]
 * @property {string | null} [ended_at]
 */

/**
 * @typedef {Object} Rollout
 * @property {number} version The newest version
 * @property {RolloutStateEnum} state paused: a broker that the next step waits for has failed; stopped: the network does not run * `done` - done * `rolling` - rolling * `paused` - paused * `refused` - refused * `stopped` - stopped
 * @property {number} steps Steps of this version
 * @property {Left[]} left
 * @property {string} waits_for What the next step waits for, or why it was refused
 * @property {number | null} previous The version that a rollback returns to
 */

/**
 * @typedef {"done" | "rolling" | "paused" | "refused" | "stopped"} RolloutStateEnum
 */

/**
 * @typedef {Object} Root
 * @property {string} version Of this installation
 * @property {string} schema The OpenAPI document, public
 * @property {string} documentation The same to read and try out, public
 * @property {Section[]} resources
 */

/**
 * @typedef {Object} Round
 * @property {number} number
 * @property {number} at_us
 * @property {string} manager
 * @property {number} budget Moves at most
 * @property {number} moves
 * @property {Seat[]} seats
 */

/**
 * @typedef {Object} Run
 * @property {string} id
 * @property {string} experiment
 * @property {string} experiment_name
 * @property {string} topology
 * @property {string} engine live, or simulated (virtual time)
 * @property {string} configuration_hash
 * @property {number} [position] Position in the launch's random order
 * @property {number} [replicate]
 * @property {number} seed 64 bits
 * @property {RunState} [state]
 * @property {number} [progress]
 * @property {number | null} eta_s Seconds until it ends; null if no worker responds
 * @property {string} [reason]
 * @property {string} waiting_for
 * @property {boolean} [cancel_requested]
 * @property {string} [verdict] valid or suspect
 * @property {string[]} verdict_reasons
 * @property {string} topology_kind
 * @property {number} brokers
 * @property {string} strategy
 * @property {boolean | null} [passed] Whether all thresholds passed; none: not evaluated
 * @property {(Record<string, any>)[]} thresholds The experiment's thresholds, evaluated: text, value, held, why
 * @property {Record<string, number | null>} figures By name, in µs, bytes and shares; null: not measured
 * @property {string[]} tags
 * @property {string} [note] A note by users
 * @property {string} mark Mark of the current tags and note; send it as If-Match
 * @property {boolean} [kept] Exempt from retention
 * @property {string | null} [files_removed] When retention deleted its files
 * @property {string} [host]
 * @property {number} [estimated_s] From launch to result, as estimated at launch
 * @property {string | null} [rerun_of]
 * @property {string | null} [compared_with] The original of a what-if run
 * @property {any} [change] The change of a what-if run: see overlay.experiment.whatif
 * @property {string} created
 * @property {string | null} [launched_at]
 * @property {string | null} [measuring_at]
 * @property {string | null} [ended_at]
 * @property {Simulated | null} simulated Null for live runs and until a simulated run has ended
 * @property {Record<string, any>} configuration The exact configuration, with seed
 * @property {Record<string, any>} summary
 * @property {string} remark Remark on its figures; empty if none
 */

/**
 * @typedef {Object} RunBroker
 * @property {number} index
 * @property {number | null} t_s
 * @property {number} traced_one_in One query in this many is traced; 0: none
 * @property {RunBrokerRow} now
 * @property {OwnWords | null} own Null until it has reported
 * @property {Lately | null} lately Null if the run is not recorded
 */

/**
 * @typedef {Object} RunBrokerList
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {number | null} t_s Seconds since the launch of the newest report of any server
 * @property {RunBrokerRow[]} results
 */

/**
 * @typedef {Object} RunBrokerRow
 * @property {number} index
 * @property {string} [name] Its process, such as broker-3
 * @property {string} [state]
 * @property {string} [address]
 * @property {number} [restarts]
 * @property {string} [reason]
 * @property {number} [load_per_s] Messages that make up the load of this system's servers, per second: of the last second, and over the measurement once it has ended
 * @property {number | null} [cores] 1 is one busy core; null if unknown
 * @property {number} [entries] Entries in its table
 * @property {number} [neighbours]
 * @property {number | null} [uss_bytes]
 * @property {number | null} [rss_bytes]
 * @property {number | null} [pss_bytes]
 * @property {number | null} [over_idle_bytes]
 * @property {number | null} [table_bytes]
 */

/**
 * @typedef {Object} RunEvent
 * @property {string} at
 * @property {string} process broker-3, supervisor, …; empty for state changes of the run
 * @property {string} name
 * @property {string} detail Reason; may be empty
 * @property {Record<string, any>} data Further data reported by the process
 */

/**
 * @typedef {Object} RunGateway
 * @property {number} gateway Its index
 * @property {number | null} nodes At the end of measuring
 * @property {number | null} most_nodes
 * @property {number | null} wanted In(X) of the last round
 * @property {number | null} score W(X) of the last round, smoothed
 * @property {number} given Nodes that it was told to give away
 * @property {number} taken Nodes that were told to move to it
 * @property {number | null} most_lag_ms
 * @property {number | null} busy Share of measuring, from 0 to 1
 * @property {Moment[]} moments At most 600
 */

/**
 * @typedef {Object} RunGateways
 * @property {number} begin_us Of measuring
 * @property {number} end_us Of measuring
 * @property {RunGateway[]} gateways
 * @property {Round[]} rounds
 */

/**
 * @typedef {"queued" | "launching" | "warming" | "measuring" | "collecting" | "done" | "failed" | "cancelled"} RunState
 */

/**
 * @typedef {Object} RunSummary
 * @property {string} id
 * @property {string} experiment
 * @property {string} experiment_name
 * @property {string} topology
 * @property {string} engine live, or simulated (virtual time)
 * @property {string} configuration_hash
 * @property {number} [position] Position in the launch's random order
 * @property {number} [replicate]
 * @property {number} seed 64 bits
 * @property {RunState} [state]
 * @property {number} [progress]
 * @property {number | null} eta_s Seconds until it ends; null if no worker responds
 * @property {string} [reason]
 * @property {string} waiting_for
 * @property {boolean} [cancel_requested]
 * @property {string} [verdict] valid or suspect
 * @property {string[]} verdict_reasons
 * @property {string} topology_kind
 * @property {number} brokers
 * @property {string} strategy
 * @property {boolean | null} [passed] Whether all thresholds passed; none: not evaluated
 * @property {(Record<string, any>)[]} thresholds The experiment's thresholds, evaluated: text, value, held, why
 * @property {Record<string, number | null>} figures By name, in µs, bytes and shares; null: not measured
 * @property {string[]} tags
 * @property {string} [note] A note by users
 * @property {string} mark Mark of the current tags and note; send it as If-Match
 * @property {boolean} [kept] Exempt from retention
 * @property {string | null} [files_removed] When retention deleted its files
 * @property {string} [host]
 * @property {number} [estimated_s] From launch to result, as estimated at launch
 * @property {string | null} [rerun_of]
 * @property {string | null} [compared_with] The original of a what-if run
 * @property {any} [change] The change of a what-if run: see overlay.experiment.whatif
 * @property {string} created
 * @property {string | null} [launched_at]
 * @property {string | null} [measuring_at]
 * @property {string | null} [ended_at]
 */

/**
 * @typedef {Object} RunVerdict
 * @property {string} run
 * @property {string} state
 * @property {boolean | null} passed Null if the run is not done
 * @property {ThresholdResult[]} thresholds In the order of the request; empty if not done
 */

/**
 * @typedef {Object} Said
 * @property {string} predicate
 * @property {boolean} holds
 * @property {string} why The value that was tested
 */

/**
 * @typedef {Object} SavedView
 * @property {string} id
 * @property {string} page Page: runs or compare
 * @property {string} name
 * @property {string} [query] Query string of its URL
 * @property {string} created
 */

/**
 * @typedef {Object} SavedViewBodyRequest
 * @property {string} [page] runs or compare
 * @property {string} name
 * @property {string} [query] Query string of its URL
 */

/**
 * @typedef {"quick" | "paper"} ScaleEnum
 */

/**
 * @typedef {Object} Schedule
 * @property {string} id
 * @property {string} name
 * @property {ScheduleKind} [kind]
 * @property {string[]} experiments
 * @property {string} crontab
 * @property {number | null} every_s
 * @property {string} hours Times in words
 * @property {boolean} enabled
 * @property {string[]} next The next three times
 * @property {string} [owner]
 * @property {string} created
 * @property {string} mark Mark of the current values.
 */

/**
 * @typedef {Object} ScheduleBodyRequest
 * @property {string} name
 * @property {ScheduleKind} [kind] comparison creates a report of the experiments, launch launches them * `comparison` - makes a report * `launch` - launches
 * @property {string[]} experiments
 * @property {string} [crontab] Five fields, in UTC
 * @property {number | null} [every_s]
 * @property {boolean} [enabled]
 */

/**
 * @typedef {"comparison" | "launch"} ScheduleKind
 */

/**
 * @typedef {"read" | "write"} ScopeEnum
 */

/**
 * @typedef {Object} Search
 * @property {string} query
 * @property {Found[]} results
 */

/**
 * @typedef {Object} Seat
 * @property {number} gateway
 * @property {number} nodes Those that were told to move count at their target
 * @property {number | null} wanted In(X); null if no move was considered
 * @property {number} score W(X), smoothed
 * @property {number} given
 * @property {number} taken
 * @property {boolean} is_draining
 */

/**
 * @typedef {Object} Section
 * @property {string} name
 * @property {string} url
 * @property {string} sentence
 */

/**
 * @typedef {Object} Seed
 * @property {number} seed
 * @property {number} replicate
 * @property {string} run
 * @property {string} compared_with
 * @property {number} pairs
 * @property {number | null} mean
 * @property {number | null} median
 * @property {number | null} answered_share
 */

/**
 * @typedef {Object} SendBodyRequest
 * @property {string} [network] Id of a running network
 * @property {string} [run] Id of a live run
 * @property {number} broker Index of a running server
 * @property {string} hex The datagram as hexadecimal digits
 */

/**
 * @typedef {Object} Sent
 * @property {number} broker
 * @property {string} address
 * @property {string} sentence
 * @property {Heard[]} answers
 */

/**
 * @typedef {Object} Setting
 * @property {string} name
 * @property {SettingKindEnum} kind
 * @property {any} default
 * @property {string} unit
 * @property {string} help
 * @property {number | null} low
 * @property {number | null} high
 * @property {string[]} choices
 * @property {number} most Maximum characters of a text in a language of the system; else 0
 */

/**
 * @typedef {"boolean" | "integer" | "number" | "text"} SettingKindEnum
 */

/**
 * @typedef {Object} Simulated
 * @property {string} digest BLAKE2b of every datagram delivered
 * @property {number} events
 * @property {number} simulated_s Virtual seconds
 * @property {number} computed_s Seconds of one core
 * @property {boolean} was_kept Whether the result is a cached one
 * @property {boolean} was_stopped The digest is then that of the cached result
 * @property {string[]} [unmeasured] Roles and units of work without measured service times, for which default costs were used
 * @property {Repeat | null} repeat
 */

/**
 * @typedef {Object} SkippingLaunch
 * @property {string[]} runs
 * @property {number} count
 * @property {number} estimated_s
 * @property {Stand[]} skipped
 */

/**
 * @typedef {"page" | "REST" | "admin" | "command" | "worker"} SourceEnum
 */

/**
 * @typedef {Object} Stand
 * @property {string} configuration_hash
 * @property {number} replicate
 * @property {string} run Id of the finished run
 * @property {string} verdict valid or suspect
 */

/**
 * @typedef {Object} StartBodyRequest
 * @property {boolean} [new_addresses] Whether every broker gets another address
 */

/**
 * @typedef {Object} Step
 * @property {StepStepEnum} step
 * @property {number[]} brokers One, or the ends of a link
 * @property {boolean} splits Whether some brokers cannot reach each other afterwards
 * @property {string} words
 */

/**
 * @typedef {"start" | "join" | "cut" | "drain" | "replace"} StepStepEnum
 */

/**
 * @typedef {Object} Storage
 * @property {number} total_bytes
 * @property {number} free_bytes
 * @property {number} used_share 0 to 1
 * @property {number | null} run_bytes Mean size of recent runs
 * @property {StorageParts} parts
 * @property {number} kept_runs Runs exempt from retention
 * @property {number} removed_runs Runs whose files were deleted
 * @property {Policy} policy
 */

/**
 * @typedef {Object} StorageParts
 * @property {number} runs Journals, traces and messages of ended runs
 * @property {number} lake Their samples, ticks and events as Parquet
 * @property {number} simulated Cached simulations
 * @property {number} reports
 * @property {number} database
 * @property {number} logs
 */

/**
 * @typedef {Object} Store
 * @property {number} broker Who keeps it
 * @property {number} neighbour For whom
 * @property {string} state Of the edge: connected, connecting, away, retired
 * @property {number} count Notifications
 * @property {number} bytes
 * @property {number} unacknowledged Messages that its channel keeps for the session
 * @property {number | null} gives_up_in_ms Until it is dropped; null: not away
 */

/**
 * @typedef {"holder" | "walk" | "next" | "hedged" | "chosen" | "view"} StrategyEnum
 */

/**
 * @typedef {Object} Study
 * @property {string} id
 * @property {string[]} names Presets of its system that it has
 * @property {string} system
 * @property {string} seed Number of the paper
 * @property {string} title
 * @property {string} question
 * @property {string} says Paraphrase of the published statement
 * @property {string | null} experiment Latest experiment with results
 * @property {ScaleEnum | NullEnum | null} scale Of that experiment * `quick` - quick * `paper` - paper
 * @property {Record<string, string>} verdicts By criterion, of that experiment
 * @property {StudySource[]} sources
 * @property {string[]} limits Limitations of its values
 * @property {StudyOffer[]} launches
 * @property {string} quick_differs Differences of the quick scale
 * @property {string} definition YAML, at the scale shown
 * @property {number} seeds Seeds with all runs done; only these count
 * @property {StudyCriterion[]} criteria
 * @property {StudyClaim[]} claims
 * @property {string[]} sentences The result in words
 * @property {(Record<string, any>)[]} charts
 * @property {string | null} digest Digest over the digests of its runs
 */

/**
 * @typedef {Object} StudyClaim
 * @property {string} id
 * @property {string} of Id of its criterion or chart
 * @property {string} quantity With its unit
 * @property {string} unit
 * @property {number | null} value
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} n Seeds
 * @property {number | null} published
 * @property {string | null} source Source of the published value
 * @property {StudyValueVerdict} verdict
 */

/**
 * @typedef {Object} StudyCriterion
 * @property {string} id
 * @property {string} claim
 * @property {string} criterion Criterion for reproduced
 * @property {string} shape Criterion for shape only
 * @property {string} written Date of the criterion
 * @property {StudyVerdict} verdict
 */

/**
 * @typedef {Object} StudyLaunch
 * @property {string[]} runs
 * @property {number} count
 * @property {number} estimated_s
 * @property {string} experiment
 */

/**
 * @typedef {Object} StudyLaunchBodyRequest
 * @property {ScaleEnum} [scale]
 */

/**
 * @typedef {Object} StudyOffer
 * @property {ScaleEnum} scale
 * @property {number} runs Maximum number of runs of a launch
 * @property {number | null} estimated_s Null if unknown
 * @property {string} refused Why it cannot be launched here; empty where it can
 */

/**
 * @typedef {Object} StudySource
 * @property {string} place
 * @property {string} line Of the seed's text
 * @property {string} quote
 */

/**
 * @typedef {Object} StudySummary
 * @property {string} id
 * @property {string[]} names Presets of its system that it has
 * @property {string} system
 * @property {string} seed Number of the paper
 * @property {string} title
 * @property {string} question
 * @property {string} says Paraphrase of the published statement
 * @property {string | null} experiment Latest experiment with results
 * @property {ScaleEnum | NullEnum | null} scale Of that experiment * `quick` - quick * `paper` - paper
 * @property {Record<string, string>} verdicts By criterion, of that experiment
 */

/**
 * @typedef {"reproduced" | "shape only" | "not" | "inconclusive" | "not known" | "not judged"} StudyValueVerdict
 */

/**
 * @typedef {"reproduced" | "shape only" | "not" | "inconclusive" | "not known"} StudyVerdict
 */

/**
 * @typedef {Object} Subscription
 * @property {number} notified Notifications received
 * @property {number} delivered Of these, delivered to the URL
 * @property {number} given_up Of these, not delivered after all attempts
 * @property {string | null} last_notified
 * @property {string | null} last_failure
 * @property {string} failure The last failure of a delivery
 * @property {string} stream Its notifications as server-sent events; of a new one, from the first on
 * @property {string} id
 * @property {string} client Its consumer
 * @property {number | null} number Given by its consumer, in ContextML
 * @property {string[]} scopes
 * @property {string | any[]} expression As nested lists
 * @property {string} expires
 * @property {PriorityEnum} priority
 * @property {SubscriptionKind} kind
 * @property {string} url
 * @property {SubscriptionState} state
 * @property {string} reason Why it was refused
 * @property {string} created
 * @property {string | null} ended
 */

/**
 * @typedef {Object} SubscriptionBodyRequest
 * @property {string[]} scopes
 * @property {string | any[]} [expression] temperature > 25, or ["temperature", ">", 25]; default: all notifications
 * @property {string} expires 2026-11-29T12:00:00Z
 * @property {PriorityEnum} [priority]
 * @property {SubscriptionKind} [kind] once: a query * `once` - once * `stream` - stream
 * @property {string} [url] Is sent notifications by POST
 * @property {string} [client] A consumer registered with advertise; default: that of the account
 */

/**
 * @typedef {Object} SubscriptionDryRun
 * @property {string} text The expression in its text form
 * @property {any[]} expression As nested lists
 * @property {string[]} warnings
 * @property {number} satisfied
 * @property {number} brokers_asked
 * @property {string[]} known_scopes
 * @property {string} covering The network's setting; off: no subscription is left out
 * @property {Covering[]} covered_by Active subscriptions of this account that make it needless on links between brokers
 * @property {TriedNotification[]} rows The newest 200 notifications
 */

/**
 * @typedef {Object} SubscriptionDryRunBodyRequest
 * @property {string[]} [scopes] None: all
 * @property {string | any[]} [expression] temperature > 25, or ["temperature", ">", 25]; default: all
 * @property {string} [expires] Decides what covers it.
 * @property {PriorityEnum} [priority]
 * @property {SubscriptionKind} [kind] once: a query * `once` - once * `stream` - stream
 */

/**
 * @typedef {"once" | "stream"} SubscriptionKind
 */

/**
 * @typedef {Object} SubscriptionPage
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {Subscription[]} results
 */

/**
 * @typedef {"active" | "satisfied" | "expired" | "refused"} SubscriptionState
 */

/**
 * @typedef {Object} System
 * @property {string} name
 * @property {string} title
 * @property {string} seed Number of the paper it implements
 * @property {string} summary
 * @property {string[]} engines
 * @property {Setting[]} settings
 * @property {Setting[]} workload
 * @property {Record<string, Record<string, any>>} profiles Settings of each profile
 * @property {SystemFault[]} faults
 * @property {Measure[]} measures
 * @property {string[]} key_figures Names of the measures that head the page of a run, in order
 * @property {SystemSeries[]} series
 * @property {SystemStudy[]} studies
 */

/**
 * @typedef {Object} SystemFault
 * @property {string} name `what` of a fault
 * @property {string} title
 * @property {string[]} servers Roles of servers that can be targets
 * @property {string[]} clients Roles of clients that can be targets
 * @property {boolean} lasts Whether it can end
 * @property {Setting[]} settings Its other fields
 */

/**
 * @typedef {Object} SystemSeries
 * @property {string} title
 * @property {string} unit As of a measure
 * @property {string[]} columns
 */

/**
 * @typedef {Object} SystemStudy
 * @property {string} id
 * @property {string} title
 * @property {string} question
 */

/**
 * @typedef {Object} Table
 * @property {string} name Tables that only one system has are named SYSTEM.TABLE
 * @property {number} rows
 */

/**
 * @typedef {Object} Tag
 * @property {string} name
 * @property {number} runs Number of runs with this tag
 */

/**
 * @typedef {Object} Target
 * @property {string} id
 * @property {string} name
 * @property {ChannelEnum} channel
 * @property {string} address For webhooks only the host: the path often contains a secret
 * @property {boolean} signed Whether a secret is set
 * @property {KindsEnum[]} kinds
 * @property {boolean} [enabled]
 * @property {number} failures Consecutive failures
 * @property {string} note Reason it was disabled, if any
 * @property {string} [owner]
 * @property {string} created
 * @property {string} mark Mark of the current values.
 */

/**
 * @typedef {Object} TargetBodyRequest
 * @property {string} name
 * @property {string} channel email or webhook
 * @property {string} address An e-mail address, or an HTTP or HTTPS URL
 * @property {string[]} kinds Event kinds to report
 * @property {string} [secret] Key of the webhook signature in X-Waxwing-Signature
 */

/**
 * @typedef {Object} ThresholdResult
 * @property {string} text
 * @property {number | null} value Null if not measured
 * @property {string} unit Of the value; empty for counts
 * @property {boolean} held
 * @property {string} why The number of requests without an answer, if it matters
 */

/**
 * @typedef {Object} Token
 * @property {string} id
 * @property {string} [name]
 * @property {ScopeEnum} [scope]
 * @property {string[] | null} networks
 * @property {string} token_key
 * @property {string} created
 * @property {string | null} last_used To the minute
 * @property {string | null} [expiry]
 */

/**
 * @typedef {Object} TokenBodyRequest
 * @property {string} username
 * @property {string} password
 * @property {string} [name]
 * @property {ScopeEnum} [scope]
 * @property {string[] | null} [networks] Ids of the networks that it is limited to: nothing else can be read or changed with it
 * @property {number} [days] Days until it expires
 */

/**
 * @typedef {Object} Topology
 * @property {string} id
 * @property {string} name
 * @property {string} kind
 * @property {number} brokers Number of brokers
 * @property {Record<string, any>} params
 * @property {number} [seed]
 * @property {Record<string, any>} measures
 * @property {number} version Version number of the rows
 * @property {string} [owner]
 * @property {string} created
 * @property {string} updated
 * @property {Link[]} links
 * @property {Node[]} nodes
 */

/**
 * @typedef {Object} TopologyBodyRequest
 * @property {string} name
 * @property {string} kind One of the kinds of GET /api/topologies/kinds/
 * @property {number} [brokers] Number of brokers; kind central has one
 * @property {Record<string, any>} [params] Parameters of the generator, and conditions of every link
 * @property {number} [seed]
 * @property {(number[] | { a: number, b: number, delay_ms?: number, jitter_ms?: number, loss?: number, loss_burst?: number, loss_burst_limit?: number, duplication?: number, reordering?: number, reordering_ms?: number, corruption?: number, rate_bytes_per_s?: number, queue_bytes?: number })[]} [links] For kind custom: [[a, b], …]
 */

/**
 * @typedef {Object} TopologyDifference
 * @property {number} old Number of the version compared
 * @property {number} new Number of the version compared with
 * @property {number[]} brokers_added
 * @property {number[]} brokers_removed
 * @property {number[]} brokers_moved
 * @property {any[][]} brokers_renamed
 * @property {Link[]} links_added
 * @property {Link[]} links_removed
 * @property {Link[][]} links_changed Pairs: before, after
 */

/**
 * @typedef {Object} TopologyImportBodyRequest
 * @property {string} name
 * @property {FormatEnum} format
 * @property {string} text The document to import
 */

/**
 * @typedef {Object} TopologySummary
 * @property {string} id
 * @property {string} name
 * @property {string} kind
 * @property {number} brokers Number of brokers
 * @property {Record<string, any>} params
 * @property {number} [seed]
 * @property {Record<string, any>} measures
 * @property {number} version Version number of the rows
 * @property {string} [owner]
 * @property {string} created
 * @property {string} updated
 */

/**
 * @typedef {Object} Trace
 * @property {string} id
 * @property {string} entity type|id|scope as queried
 * @property {number} timestamp_ms The request's own timestamp, Unix milliseconds
 * @property {string} at The same as ISO 8601
 * @property {number | null} asked Index of the first broker
 * @property {TraceOutcome} outcome
 * @property {number | null} ms From the request's arrival at the first broker to its answer or refusal
 * @property {number} hops Number of times the request was forwarded
 * @property {number} messages Messages between brokers for this query
 * @property {number[]} replicas Brokers that stored a replica
 * @property {boolean} partial Whether reports are missing
 * @property {TraceEnding} ending
 * @property {string} consumer host:port
 * @property {number[]} silent Brokers to which it was sent without a report
 * @property {TracePassage[]} passages
 * @property {TraceStep[]} steps
 * @property {TraceClient | null} client Null unless exactly one sample matches
 */

/**
 * @typedef {Object} TraceClient
 * @property {number} client
 * @property {string} outcome
 * @property {number} status
 * @property {number} attempts
 * @property {string | null} truth As in samples; null for runs of earlier versions
 * @property {number} took_ms From the first send to the end
 * @property {number} intended_at_ms
 * @property {number} sent_at_ms
 * @property {number} ended_at_ms
 */

/**
 * @typedef {Object} TraceEnding
 * @property {NameEnum} name
 * @property {string} word
 * @property {string} sentence
 */

/**
 * @typedef {Object} TraceList
 * @property {number} count
 * @property {string | null} next
 * @property {string | null} previous
 * @property {number} traced_one_in One query in this many is traced, plus failed ones
 * @property {number} kept_one_in Above 1 if only a part of the reported queries is stored
 * @property {TraceSummary[]} results
 */

/**
 * @typedef {"answered" | "not_found" | "refused" | "lost" | "unknown"} TraceOutcome
 */

/**
 * @typedef {Object} TracePassage
 * @property {number | null} number Number of a request within the query, from 1
 * @property {TracePassageKindEnum} kind
 * @property {number} sender Index of a broker
 * @property {number} receiver
 * @property {number | null} at_ms Send time, since the request's arrival at the first broker
 * @property {number | null} ms Duration; null if only one end reported it
 * @property {number | null} round_ms For a request: time until an answer or refusal came back
 */

/**
 * @typedef {"request" | "lookahead" | "answer" | "refusal"} TracePassageKindEnum
 */

/**
 * @typedef {Object} TraceStep
 * @property {number} at_ms Since the request's arrival at the first broker
 * @property {number} broker
 * @property {string} step
 * @property {number | null} peer The other broker
 * @property {boolean} with_consumer Whether the other end is the consumer
 * @property {string} detail
 */

/**
 * @typedef {Object} TraceSummary
 * @property {string} id
 * @property {string} entity type|id|scope as queried
 * @property {number} timestamp_ms The request's own timestamp, Unix milliseconds
 * @property {string} at The same as ISO 8601
 * @property {number | null} asked Index of the first broker
 * @property {TraceOutcome} outcome
 * @property {number | null} ms From the request's arrival at the first broker to its answer or refusal
 * @property {number} hops Number of times the request was forwarded
 * @property {number} messages Messages between brokers for this query
 * @property {number[]} replicas Brokers that stored a replica
 * @property {boolean} partial Whether reports are missing
 */

/**
 * @typedef {Object} TracedMessage
 * @property {number} t_s
 * @property {DirectionEnum} direction
 * @property {string} kind request, lookahead, answer or refusal
 * @property {number | null} other The server at the other end, if known
 * @property {boolean} with_consumer
 * @property {string} entity
 * @property {string} query Query id, as in traces
 * @property {string} detail Status of a refusal
 */

/**
 * @typedef {Object} Track
 * @property {string} client
 * @property {Place[]} places The first is from before the window
 */

/**
 * @typedef {Object} Tree
 * @property {number} epoch
 * @property {boolean} is_of_service False: a broker told it, which may know an older one
 * @property {number[][]} edges
 * @property {number[][]} resting Links that are no edges
 * @property {TreeBroker[]} brokers
 */

/**
 * @typedef {Object} TreeBroker
 * @property {number | null} index
 * @property {string} broker Its name in messages
 * @property {string} endpoint
 * @property {boolean} is_mobile
 * @property {TreeBrokerStateEnum} state At the registration service * `valid` - valid * `invalid` - invalid
 * @property {number} silent_ms Since the last sign of life
 * @property {number} epoch The newest that was sent to it
 * @property {string[]} down Brokers to which it reports a dead link
 */

/**
 * @typedef {"valid" | "invalid"} TreeBrokerStateEnum
 */

/**
 * @typedef {Object} Tried
 * @property {Placed[]} rows
 */

/**
 * @typedef {Object} TriedNotification
 * @property {string} provider
 * @property {number} number Rises with each notification of its provider
 * @property {string} entity_type
 * @property {string} entity_id
 * @property {string} scope
 * @property {string} timestamp
 * @property {string} expires
 * @property {Record<string, any>} data
 * @property {number[]} brokers In whose caches it is
 * @property {boolean} holds Whether it satisfies the subscription
 * @property {boolean} is_in_scope
 * @property {Said[]} said The predicates that decide it
 */

/**
 * @typedef {Object} TryBodyRequest
 * @property {string} aggregability An expression, such as {volume: 2}
 * @property {(Record<string, any>)[]} messages {"at_s": 0, "from": "Bob", …}: time, sender, "people" and attributes
 * @property {(Record<string, any>)[]} recipients {"id": "Bob", …}: name and attributes
 * @property {boolean} [echo] Whether senders receive their own
 */

/**
 * @typedef {Object} Undelivered
 * @property {number} client
 * @property {string} state
 */

/**
 * @typedef {Object} Verdict
 * @property {JudgementEnum} judgement
 * @property {string} sentence
 * @property {number | null} status Status of the answer that refuses it
 * @property {string[]} answers Datagrams it sends back immediately
 * @property {string} needs Settings that a server needs to accept the message
 */

/**
 * @typedef {Object} Version
 * @property {number} number From 1; gaps where old versions were thinned out
 * @property {string} at
 * @property {string} [by]
 * @property {string} [note]
 * @property {number} [size] Bytes of the document
 */

/**
 * @typedef {Object} Walk
 * @property {string} policy
 * @property {number} holders
 * @property {number} walks
 * @property {number} found Share of walks that found the content
 * @property {number | null} hops Mean over successful walks
 * @property {number | null} margin Margin of the mean, 95 % confidence
 */

/**
 * @typedef {Object} WayDelivery
 * @property {string} client
 * @property {number} number Of the subscription
 * @property {string} note Id of the notification
 * @property {number} received_us
 * @property {boolean} is_cached
 * @property {number} hops
 */

/**
 * @typedef {Object} WayMessage
 * @property {string} kind
 * @property {string} sender
 * @property {string} receiver
 * @property {number} sent_us
 * @property {number | null} arrived_us Null if only its sending is known
 * @property {boolean} is_lost Whether its arrival should be known and is not
 * @property {number | null} number Among the messages between brokers, from 1
 */

/**
 * @typedef {Object} WayStep
 * @property {number} at_us
 * @property {string} broker
 * @property {string} about n|PROVIDER|NUMBER, s|CONSUMER|NUMBER or q|ASKER|NUMBER
 * @property {string} step
 * @property {string} peer The broker or client at the other end
 * @property {string[]} subscriptions Satisfied there; at most 64
 * @property {string} detail
 * @property {number} arrived_us When the message that led to it had arrived
 * @property {number} waited_us In the queue and the service of a modelled processor
 */

/**
 * @typedef {Object} WireField
 * @property {string} name
 * @property {string} kind
 * @property {number} offset Of the first byte
 * @property {number} length In bytes
 * @property {string} hex
 * @property {string} text At most 160 characters; non-printing ones are escaped
 * @property {string} words Its meaning, if the text does not show it
 * @property {string} problem Empty if it is valid
 * @property {number} depth Above 0 inside a nested message
 */

export {};