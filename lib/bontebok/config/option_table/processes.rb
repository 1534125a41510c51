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
        Option.new("MaxWorkers", OptionTypes::CountOrAuto.new(0..1024, metavar: "N|auto"), :auto,
                   "Worker processes. auto: one per CPU that the server may use, by its CPU affinity and by the " \
                   "quota of its cgroup. 0: one process that forks nothing, for debugging.",
                   section: TITLE, short: "w", aliases: [:workers], environment_variables: ["WEB_CONCURRENCY"]),
        Option.new("Threads", OptionTypes::Count.new(1..64), 1,
                   "Threads per worker. Each is a Ruby thread that serves one request at a time.",
                   section: TITLE, short: "t", environment_variables: ["RAILS_MAX_THREADS"]),
        Option.new("ConfigFile", FILE, nil,
                   "Configuration file, in Ruby. It has a line `name value` for each option; the name is the " \
                   "option's long flag with _ for -. The default file is read if it exists.",
                   section: TITLE, short: "c", aliases: [:config], in_file: false, default_text: "config/bontebok.rb"),
        Option.new("ConfigStyle", STYLE, nil,
                   "Syntax of ConfigFile: bontebok, puma or unicorn. By default it is puma or unicorn if the file's " \
                   "name (puma.rb, unicorn.conf.rb) or its directory (config/puma/) says so, else bontebok.",
                   section: TITLE, in_file: false, default_text: "by file name"),
        Option.new("IgnoreUnknown", SWITCH, false,
                   "Ignore unknown options in the configuration file. The log names each of them.",
                   section: TITLE, in_file: false),
        Option.new("Environment", WORD, "development",
                   "Environment of the application, set as RACK_ENV. A response 500 shows the backtrace in " \
                   "development only.",
                   section: TITLE, short: "E", environment_variables: %w[RACK_ENV RAILS_ENV]),
        Option.new("Rackup", FILE, "config.ru",
                   "Rackup file of the application. It may also be a .rb file whose constant of the same name is " \
                   "the application. The last argument may be the file, without a flag.",
                   section: TITLE),
        Option.new("Preload", SWITCH, true,
                   "Load the application once, before workers are forked. false: each worker loads it.",
                   section: TITLE),
        Option.new("MaxRequestPerChild", COUNT, 0,
                   "Requests after which a worker is replaced. The new worker is ready before the old one ends. 0: " \
                   "never. No effect with MaxWorkers 0.",
                   section: TITLE),
        Option.new("MinRequestPerChild", COUNT, 0,
                   "Lower bound for a random MaxRequestPerChild. Each worker has its own limit, chosen at random " \
                   "from MinRequestPerChild to MaxRequestPerChild. 0: all workers have the limit " \
                   "MaxRequestPerChild.",
                   section: TITLE),
        Option.new("MaxWorkerAge", DURATION, 0,
                   "Time after which a worker is replaced. Each worker has its own limit, chosen at random from " \
                   "three quarters of this time to all of it. The new worker is ready before the old one ends. 0: " \
                   "never. No effect with MaxWorkers 0.",
                   section: TITLE),
        Option.new("MaxWorkerMemory", SIZE, 0,
                   "Private memory above which a worker is replaced. Private memory is shared with no other " \
                   "process; it is measured every 10 s. The new worker is ready before the old one ends. 0: no " \
                   "limit. No effect with MaxWorkers 0. The option needs /proc/self/smaps_rollup (Linux 4.14 or " \
                   "later); if that file is missing, the log says so.",
                   section: TITLE),
        Option.new("ErrRespawnInterval", DURATION, 1000,
                   "Pause before a failed worker is started again. A worker that ends before it is ready has failed. " \
                   "The pause doubles with each failure in a row, up to 30 s. A worker that ends after it was ready " \
                   "is replaced at once. But if two workers in a row end within this time after they were ready, the " \
                   "second one has failed as well.",
                   section: TITLE),
        Option.new("WorkerBootTimeout", DURATION, 60_000,
                   "Time for a worker to become ready. With Preload false it includes the time for loading the " \
                   "application. A worker that takes longer is killed and has failed (ErrRespawnInterval). All " \
                   "workers of a new generation (RestartFile) must be ready within this time, plus SpawnInterval for " \
                   "each worker after the first. If they are not, the new generation is stopped and the former one " \
                   "stays. 0: no limit.",
                   section: TITLE),
        Option.new("SpawnInterval", DURATION, 0,
                   "Pause between the starts of two workers. It applies to a slow restart (USR1), and whenever " \
                   "several workers are to be started. At the first start, the first worker serves as soon as it is " \
                   "ready.",
                   section: TITLE),
        Option.new("GracefulTimeout", DURATION, 30_000,
                   "Time for a stopping worker to finish its requests. After that it is killed. 0: at once.",
                   section: TITLE, core: true),
        Option.new("SignalHup", HUP, "reopen",
                   "Effect of the signal HUP: reopen or stop. reopen: the log files are opened again and the " \
                   "workers are replaced. stop: a graceful stop, as in Rhebok.",
                   section: TITLE)
      ].freeze
    end
  end
end
