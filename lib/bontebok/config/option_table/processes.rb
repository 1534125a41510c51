# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # What is served, and by how many.
    module Processes
      include OptionValues

      TITLE = "Application and processes"

      OPTIONS = [
        Option.new("MaxWorkers", OptionTypes::CountOrAuto.new(0..1024, metavar: "N|auto"), :auto,
                   "Worker processes. auto: one per CPU that may be used, by affinity and by the quota of the " \
                   "cgroup. 0: one process that forks nothing, for debugging.",
                   section: TITLE, short: "w", aliases: [:workers], environment_variables: ["WEB_CONCURRENCY"]),
        Option.new("Threads", OptionTypes::Count.new(1..64), 1,
                   "Lanes per worker: requests that one worker serves at the same time, each in a Ruby thread.",
                   section: TITLE, short: "t", environment_variables: ["RAILS_MAX_THREADS"]),
        Option.new("ConfigFile", FILE, nil,
                   "Configuration file in Ruby: a line `name value` for each option, named as its flag with _ for -.",
                   section: TITLE, short: "c", aliases: [:config], in_file: false,
                   default_text: "config/bontebok.rb, if there is one"),
        Option.new("ConfigStyle", STYLE, nil,
                   "Whose configuration file it is: bontebok, puma or unicorn.",
                   section: TITLE, in_file: false,
                   default_text: "puma or unicorn by the file's name (puma.rb, unicorn.conf.rb) or directory " \
                                 "(config/puma/), else bontebok"),
        Option.new("IgnoreUnknown", SWITCH, false,
                   "Go on without what the configuration file says and this server does not know; each is logged.",
                   section: TITLE, in_file: false),
        Option.new("Environment", WORD, "development",
                   "The application's environment, put into RACK_ENV. An answer 500 shows the backtrace only in " \
                   "development.",
                   section: TITLE, short: "E", environment_variables: %w[RACK_ENV RAILS_ENV]),
        Option.new("Rackup", FILE, "config.ru",
                   "The rackup file, or a .rb file whose constant of the same name is the application. It may " \
                   "also be given without a flag, as the last argument.",
                   section: TITLE),
        Option.new("Preload", SWITCH, true,
                   "Load the application once, before the workers are forked. false: each worker loads it.",
                   section: TITLE),
        Option.new("MaxRequestPerChild", COUNT, 0,
                   "Requests after which a worker is replaced; its replacement is ready before it goes. 0: " \
                   "never. Without effect when MaxWorkers is 0.",
                   section: TITLE),
        Option.new("MinRequestPerChild", COUNT, 0,
                   "With MaxRequestPerChild: each worker's own limit is chosen at random between the two. 0: no " \
                   "spread.",
                   section: TITLE),
        Option.new("MaxWorkerAge", DURATION, 0,
                   "Time after which a worker is replaced likewise; each worker's own is chosen at random from three " \
                   "quarters of it on. 0: never. Without effect when MaxWorkers is 0.",
                   section: TITLE),
        Option.new("MaxWorkerMemory", SIZE, 0,
                   "Bytes of memory that a worker shares with no other process; it is looked at every 10 s, and one " \
                   "that has more is replaced likewise. 0: no limit. Without effect when MaxWorkers is 0, and where " \
                   "there is no /proc/self/smaps_rollup (Linux has it from 4.14 on): then the log says so.",
                   section: TITLE),
        Option.new("ErrRespawnInterval", DURATION, 1000,
                   "Pause before a worker is started again that ended before it was ready. It doubles with each " \
                   "failure in a row, up to 30 s. One that was ready is replaced at once, unless it is the second " \
                   "in a row to live for less than this: such an end is a failure as well.",
                   section: TITLE),
        Option.new("WorkerBootTimeout", DURATION, 60_000,
                   "Time that a worker has to become ready, with Preload false to load the application; then it is " \
                   "killed, which is a failure. Also the time that a new generation (RestartFile) has until all of " \
                   "its workers are ready; then it is stopped, and the former one stays. 0: no limit.",
                   section: TITLE),
        Option.new("SpawnInterval", DURATION, 0,
                   "Pause between the starts of two workers: in a slow restart (USR1), and whenever several are to " \
                   "be started. At the first start the first one serves as soon as it is ready.",
                   section: TITLE),
        Option.new("GracefulTimeout", DURATION, 30_000,
                   "Time that a worker has to finish what is in flight; then it is killed. 0: at once.",
                   section: TITLE, core: true),
        Option.new("SignalHup", HUP, "reopen",
                   "What the signal HUP asks for. reopen: open the log files anew and replace the workers. stop: " \
                   "a graceful stop, as in Rhebok.",
                   section: TITLE)
      ].freeze
    end
  end
end
