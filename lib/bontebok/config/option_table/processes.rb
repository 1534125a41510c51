# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # The options of the application and of the processes that serve it.
    module Processes
      include OptionValues

      TITLE = "Application and processes"

      OPTIONS = [
        Option.new("max_workers", OptionTypes::CountOrAuto.new(0..1024, metavar: "N|auto"), :auto,
                   "Worker processes. auto: one worker for each CPU that the CPU affinity and the cgroup's quota " \
                   "allow, but not more than the memory can hold during a deploy (80 % of the machine's memory or " \
                   "of the cgroup's limit). The first worker serves while the others start. 0: one process that " \
                   "forks nothing. The debugger then has the terminal, the console in Rails' error page finds the " \
                   "failed request, and one copy of the application is reloaded. Without Linux, always 0.",
                   section: TITLE, short: "w", aliases: [:workers], environment_variables: ["WEB_CONCURRENCY"],
                   default_text: "0 in development, else auto"),
        Option.new("threads", OptionTypes::ThreadCount.new(1..64), 1,
                   "Threads per worker. Each Ruby thread serves one request at a time. The default 3 is for " \
                   "applications of Rails (config/application.rb), and for one process in development (-w 0).",
                   section: TITLE, short: "t", environment_variables: ["RAILS_MAX_THREADS"],
                   default_text: "3 with Rails or in development, else 1"),
        Option.new("config_file", FILE, nil,
                   "Configuration file, in Ruby. A line `name value` sets an option. The name is the option's long " \
                   "flag with _ in place of -. The default file is read if it exists.",
                   section: TITLE, short: "c", aliases: [:config], in_file: false, default_text: "config/bontebok.rb"),
        Option.new("config_style", STYLE, nil,
                   "Server whose syntax config_file has. The value is bontebok, puma, unicorn, pitchfork or rhebok. " \
                   "By default, the file's name (puma.rb, unicorn.conf.rb) or directory (config/puma/) decides. " \
                   "Other files have the syntax of bontebok.",
                   section: TITLE, in_file: false, default_text: "by file name"),
        Option.new("environment", WORD, "development",
                   "Environment of the application, set as RACK_ENV. A response 500 shows the backtrace in " \
                   "development only.",
                   section: TITLE, short: "E", environment_variables: %w[APP_ENV RACK_ENV RAILS_ENV]),
        Option.new("rackup", FILE, "config.ru",
                   "Rackup file of the application. A Ruby file is possible, too: my_app.rb defines the application " \
                   "as the constant MyApp. The file may also be the last argument of the command, without a flag.",
                   section: TITLE),
        Option.new("preload", SWITCH, true,
                   "Load the application once, before workers are forked. false: each worker loads it.",
                   section: TITLE),
        Option.new("max_request_per_child", COUNT, 0,
                   "Requests after which a worker is replaced. Each worker has its own limit, chosen at random from " \
                   "three quarters of this number to the full number. The new worker is ready before the old worker " \
                   "stops. 0: never. No effect with max_workers 0.",
                   section: TITLE),
        Option.new("max_worker_age", DURATION, 0,
                   "Time after which a worker is replaced. Each worker has its own limit, chosen at random from " \
                   "three quarters of this time to the full time. The new worker is ready before the old worker " \
                   "stops. 0: never. No effect with max_workers 0.",
                   section: TITLE),
        Option.new("max_worker_memory", SIZE, 0,
                   "Private memory above which a worker is replaced. Private memory is not shared with other " \
                   "processes. It is measured every 10 s. The new worker is ready before the old worker stops. 0: no " \
                   "limit. No effect with max_workers 0. The option needs /proc/self/smaps_rollup (Linux 4.14 or " \
                   "later). If that file is missing, the log says so.",
                   section: TITLE),
        Option.new("err_respawn_interval", DURATION, 1000,
                   "Pause before a failed worker is started again. A worker that ends before it is ready has failed. " \
                   "The pause doubles with each failure in a row, up to 30 s. A worker that ends after it was ready " \
                   "is replaced at once. But if this worker and its replacement both end within err_respawn_interval " \
                   "after they were ready, the replacement has failed. " \
                   "In a deploy, the former workers serve until the new ones have been ready for this time.",
                   section: TITLE),
        Option.new("worker_boot_timeout", DURATION, 60_000,
                   "Time for a worker, and for a new release, to become ready. The time of a release, and with " \
                   "preload false that of a worker, includes loading the application. With preload false and more " \
                   "workers than CPUs, the time is longer in proportion. A worker that takes longer is killed and " \
                   "has failed (err_respawn_interval). If the release of a deploy takes longer, its processes end, " \
                   "and the old workers continue to serve; the value of the old release counts. 0: no limit.",
                   section: TITLE),
        Option.new("deploy_surge", COUNT, 0,
                   "Workers that a deploy starts at a time. When they are ready, as many old workers leave, and the " \
                   "next ones are started. So the memory need not hold two generations. worker_boot_timeout applies " \
                   "to each step. 0: all workers start at once, and the old ones leave at the end.",
                   section: TITLE),
        Option.new("keep_former", DURATION, 0,
                   "Time that the former master stays loaded after a deploy. In this time `bontebok rollback` lets " \
                   "it start workers again. The next deploy ends it when it takes effect; with deploy_surge, when it " \
                   "begins. Its threads continue to run. 0: the former master ends when its workers have ended. No " \
                   "effect with max_workers 0.",
                   section: TITLE),
        Option.new("graceful_timeout", DURATION, 30_000,
                   "Time for a stopping worker to finish its requests. After this time, the worker is killed. 0: at " \
                   "once.",
                   section: TITLE, core: true),
        Option.new("drain_delay", DURATION, 0,
                   "Time from TERM or QUIT to the graceful stop. In this time the server serves, but ready_path gets " \
                   "503, and each response has `Connection: close`, so that clients and load balancers choose " \
                   "other servers. A second TERM or QUIT ends this time.",
                   section: TITLE),
        Option.new("signal_hup", HUP, "reopen",
                   "Effect of the signal HUP: reopen, deploy or stop. reopen: the log files are opened again and the " \
                   "workers are replaced. deploy: as the signal USR2. stop: a graceful stop, as in Rhebok.",
                   section: TITLE)
      ].freeze
    end
  end
end
