# frozen_string_literal: true

module Bontebok
  # The parts of docs/CONFIGURATION.md around the tables of options. OptionDocs uses them.
  module OptionProse
    INTRODUCTION = <<~TEXT
      # Configuration

      <!-- Made from lib/bontebok/config/option_table.rb and option_prose.rb: change those, then run
           `ruby lib/bontebok/cli/option_docs.rb`. -->

      ```
      bontebok [-l ADDR]... [-w N|auto] [-t N] [-c FILE] [-E ENV] [options] [config.ru]
      ```

      Options are set on the command line, in a configuration file and in environment variables. The tables name the
      variables. ConfigFile, ConfigStyle and IgnoreUnknown are not for the file. If an option has several values, the
      command line wins over the file, the file over the environment, and the environment over the default. A blank
      variable counts as not set. `bontebok --check` prints the value of every option and where it comes from.
      `bontebok --help` lists the options, and `bontebok --help OPTION` shows all of an option.

      Sizes are in bytes, or end in K, M or G. Times are in seconds (`30`, `0.5`), or end in ms, s, m or h. A switch is
      on with its flag (`--reuse-port`) or `=true`, and off with `--no-reuse-port` or `--reuse-port=false`.

      If an option is unknown or a value is wrong, the start fails with exit status 2. If a port is in use or a file is
      missing, the exit status is 1.

      ## The configuration file

      The configuration file is the one that `-c` names, else `config/bontebok.rb` if it exists. It is Ruby. Each option
      is a method with the name of its long flag, with `_` for `-`:

      ```ruby
      listen "127.0.0.1:8080", "unix:/run/app/bontebok.sock"
      max_workers 4
      header_timeout 10
      preload false

      before_fork { Connections.disconnect }
      after_fork { |worker| Connections.connect("worker \#{worker.number}") }
      ```

      The value of `-E` is in `ENV["RACK_ENV"]` there. The value `nil` means that the file does not set the option. An
      unknown method ends the start, and the message names its file and line. With `--ignore-unknown` the server logs
      the unknown method and starts.

      Files for other servers work unchanged. A file for Rhebok is in the same language. A file is read as one for
      unicorn or puma if its name begins with `unicorn` or `puma` (`unicorn.rb`, `unicorn.conf.rb`,
      `puma-production.rb`), if it is in `config/unicorn/` or `config/puma/`, or if `--config-style` says so.
      [MIGRATING.md](MIGRATING.md) explains what each directive of these servers does here.
    TEXT

    HOOKS = <<~TEXT

      ## Hooks

      A hook is a block in the configuration file that runs at a moment of the server's life. Hooks of the same name run
      in the order of the file. A `worker` has a `number` (from 1) and a `pid`. A hook may take fewer arguments.

      | hook | in | when |
      |---|---|---|
      | `before_fork { \\|worker\\| }` | master | before a worker is forked; `pid` is nil |
      | `after_worker_fork { \\|worker\\| }` | master | after a worker is forked |
      | `after_fork { \\|worker\\| }` | worker | first of all; without Preload before the application is loaded |
      | `after_worker_ready { \\|worker\\| }` | worker | all is loaded; the worker serves next |
      | `before_thread_start { }` | worker | in each thread that serves, before its first request |
      | `before_thread_exit { }` | worker | in each thread that serves, after its last request; not at a stop at once |
      | `before_worker_exit { \\|worker\\| }` | worker | the worker has served its last request |
      | `after_worker_exit { \\|worker, status\\| }` | master | the worker has ended; `status` is a Process::Status |
      | `on_booted { }` | master | the workers are ready for the first time |
      | `after_stopped { }` | master | the last worker has ended |
      | `on_error { \\|exception, env\\| }` | worker | the application has raised, in `call` or in the body |
      | `out_of_band { \\|worker\\| }` | worker | between requests, after every MaxGCPerRequest requests |

      The master is the process that loads the application, if Preload is on, and forks the workers. Each master runs
      `on_booted`, and at its end `after_stopped`. So does a master that takes another's place (RestartFile). While a
      master runs a hook, it does nothing else, and a stop waits for the hook. But a stop ends a `before_fork` of the
      start, while no worker serves yet. With MaxWorkers 0 there are neither forks nor workers. Then only `on_booted`,
      `after_stopped`, `on_error`, `out_of_band` and the hooks of threads run.

      If `before_fork`, `after_fork` or `after_worker_ready` raises, that worker does not start. If no worker can start
      when the server starts, the exit status is 1. If another hook raises, the exception is logged and changes nothing.
      But after `NoMemoryError` or a `SignalException` in `on_error` or `out_of_band` the worker is replaced, as it is
      when the application raises one of these.

      If no response was begun, the value of `on_error` is the response. A String is the text of a 500, or of a 504
      after `Bontebok::RequestTimeout`. An Array is sent as if the application had returned it; if it cannot be sent,
      the log says so. For any other value, the client gets the same response as without the hook.

      `out_of_band`, and after it the garbage collection of OobGC, take no client's time as long as there are other
      workers. The kernel gives the other workers the new connections. Requests on connections that the worker keeps
      alive are passed on to the other workers. At most half of the workers are out of band at the same moment. A run
      begins when the worker has no request in any of its threads. If it always has one, the run begins after ten times
      MaxGCPerRequest requests, and other threads of the worker may then have a request.
    TEXT
  end
end
