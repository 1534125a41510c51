# frozen_string_literal: true

module Bontebok
  # The parts of docs/CONFIGURATION.md that are no tables of options.
  module OptionProse
    INTRODUCTION = <<~TEXT
      # Configuration

      <!-- Made from lib/bontebok/config/option_table.rb and option_prose.rb: change those, then run
           `ruby lib/bontebok/cli/option_docs.rb`. -->

      ```
      bontebok [-l ADDR]... [-w N|auto] [-t N] [-c FILE] [-E ENV] [options] [config.ru]
      ```

      Every option can be given on the command line and in a configuration file; some also come from an environment
      variable. In that order the first that has a value wins, and the default comes last. A variable that is blank is
      as good as none. `bontebok --check` prints the value of every option and where it comes from.

      Sizes are bytes, or end in K, M or G. Times are seconds (`30`, `0.5`), or end in ms, s, m or h. A switch is on by
      itself (`--reuse-port`) or with `=true`, and off with `--no-reuse-port` or `--reuse-port=false`.

      An unknown option or a wrong value ends the start with exit status 2; a port in use or a missing file with 1.

      ## The configuration file

      It is the file that `-c` names, or `config/bontebok.rb` if there is one. It is Ruby. Each option is a method,
      named as its long flag with `_` for `-`:

      ```ruby
      listen "127.0.0.1:8080", "unix:/run/app/bontebok.sock"
      max_workers 4
      header_timeout 10
      preload false

      before_fork { Connections.disconnect }
      after_fork { |worker| Connections.connect("worker \#{worker.number}") }
      ```

      What `-E` says is in `ENV["RACK_ENV"]` there. A value of `nil` is as good as no line. An unknown method ends the
      start with the file and line of it; with `--ignore-unknown` it is logged instead.

      Files for other servers are read as they are: one for Rhebok is in this language already; one whose name begins
      with `unicorn` or `puma` (`unicorn.rb`, `unicorn.conf.rb`, `puma-production.rb`), or that lies in
      `config/unicorn/` or `config/puma/`, or for which `--config-style` says so, is in theirs.
      [MIGRATING.md](MIGRATING.md) tells what becomes of each of their directives.
    TEXT

    HOOKS = <<~TEXT

      ## Hooks

      Code that the configuration file has for moments in the life of the server. Several of one name run in the order
      of the file. A hook is given a `worker` with `number` (from 1) and `pid`, or less if it takes fewer arguments.

      | hook | in | when |
      |---|---|---|
      | `before_fork { \\|worker\\| }` | master | before a worker is forked; `pid` is nil |
      | `after_worker_fork { \\|worker\\| }` | master | after that |
      | `after_fork { \\|worker\\| }` | worker | first of all; without Preload before the application is loaded |
      | `after_worker_ready { \\|worker\\| }` | worker | all is loaded; it serves next |
      | `before_thread_start { }` | worker | in each of its threads that serve, before the first request |
      | `before_thread_exit { }` | worker | in each of them, after the last one; not after a stop at once |
      | `before_worker_exit { \\|worker\\| }` | worker | it has served its last request |
      | `after_worker_exit { \\|worker, status\\| }` | master | it has ended; a Process::Status |
      | `on_booted { }` | master | the workers are ready for the first time |
      | `after_stopped { }` | master | the last worker has ended |
      | `on_error { \\|exception, env\\| }` | worker | the application has raised, in a request or in its body |
      | `out_of_band { \\|worker\\| }` | worker | between requests, after every MaxGCPerRequest of them |

      The master is the process that loads the application, if Preload is on, and forks the workers. Each master runs
      `on_booted`, also one that takes another's place (RestartFile), and `after_stopped` at its end. While a hook
      runs in it, it does nothing else, and a stop waits; only `before_fork` of a start, while no worker serves yet,
      does not go on. With MaxWorkers 0 there are neither forks nor workers: `on_booted`,
      `after_stopped`, `on_error`, `out_of_band` and those of threads are run, the others are not.

      What raises in `before_fork`, `after_fork` or `after_worker_ready` keeps that worker from starting; when none can
      start at the server's start, the exit status is 1. What raises elsewhere is logged and changes nothing; but after
      `NoMemoryError` or a `SignalException` in `on_error` or `out_of_band` the worker is replaced, as it is when the
      application raises one.

      What `on_error` returns is the answer, if none was begun: a String is the text of a 500 (after
      `Bontebok::RequestTimeout` of a 504), an Array is sent as if the application had returned it, and the log tells
      of one that cannot be. After anything else it is the answer that there is without the hook.

      `out_of_band`, and OobGC's collection after it, cost no client time as long as there are other workers: the kernel
      gives them the connections that come meanwhile, requests on connections that the worker keeps alive are passed on
      to them, and half of the workers at most are out of band at the same moment. They begin when the worker has no
      request in any of its threads. A server that is never without requests does it all the same, after ten times
      MaxGCPerRequest requests, and then the worker's other threads may have one.
    TEXT
  end
end
