# frozen_string_literal: true

module Bontebok
  # The parts of docs/CONFIGURATION.md around the tables of options. OptionDocs uses them.
  module OptionProse
    TITLE = <<~TEXT
      # Configuration

      <!-- Made from lib/bontebok/config/option_table.rb and option_prose.rb: change those, then run
           `ruby lib/bontebok/cli/option_docs.rb`. -->

      ```
      bontebok [-l ADDR]... [-p PORT] [-w N|auto] [-t N] [-c FILE] [-E ENV] [options] [config.ru]
      ```

    TEXT

    FIRST = <<~TEXT
      Most servers need only some of these ten options:
    TEXT

    INTRODUCTION = <<~TEXT
      ## Where options are set

      Options are set on the command line, in a configuration file and in environment variables. The tables below name
      the environment variables. `config_file` and `config_style` cannot be set in the file. If an option has several
      values, the command line wins over the file, the file over the environment, and the environment over the default.
      A blank variable counts as not set. `bontebok --check` prints the value of every option and its source.

      `bontebok --help` lists the options that people set, and `bontebok --help all` lists all of them. `bontebok --help
      OPTION` describes one option, and `bontebok --help WORD` lists the options with this word. `-p PORT` is short for
      `-l '*:PORT'`.

      Sizes are in bytes, or end in K, M or G. Times are in seconds (`30`, `0.5`), or end in ms, s, m or h. A switch is
      turned on by `--reuse-port` or `--reuse-port=true`, and off by `--no-reuse-port` or `--reuse-port=false`.

      If an option is unknown, or an option or a variable has a wrong value, the start fails with exit status 2. If a
      port is in use or a file is missing, the exit status is 1.

      ## The configuration file

      `-c` names the configuration file. Without `-c`, the server reads `config/bontebok.rb` if this file exists. The
      file is written in Ruby. Each option is a method:

      ```ruby
      listen "127.0.0.1:8080", "unix:/run/app/bontebok.sock"
      max_workers 4
      header_timeout 10
      preload false

      before_fork { Connections.disconnect }
      after_fork { |worker| Connections.connect("worker \#{worker.number}") }
      ```

      In the file, `ENV["RACK_ENV"]` has the value of `-E`, `APP_ENV` or `RAILS_ENV`. The value `nil` means that the
      file does not set the option. If the file calls an unknown method, the start fails with a message that names file
      and line.

      A path may be a Pathname, such as `Rails.root.join("tmp/app.pid")`. A time may be `5.minutes` of Active Support,
      and a network an IPAddr. Each object that Ruby itself converts is possible: one with `to_path`, `to_str`, `to_int`
      or `to_ary`. The start fails for any other object. The file is in UTF-8, unless it begins with a magic comment
      such as `# encoding: iso-8859-1`.

      Configuration files for Rhebok, unicorn, pitchfork and puma work unchanged. Rhebok's files have the syntax above.
      `--config-style` sets the syntax of a file. Without this option, a file is read as a file for one of these servers
      if its name begins with the server's name (`unicorn.conf.rb`, `puma-production.rb`), or if its directory has this
      name (`config/puma/`). [MIGRATING.md](MIGRATING.md) explains what each directive of these servers does here.
    TEXT

    HOOKS = <<~TEXT

      ## Hooks

      A hook is a block in the configuration file that the server runs at a certain event. Hooks of the same name run in
      the order of the file. A `worker` has a `number` (from 1) and a `pid`. In `before_worker_exit`, it also has
      `requests`, the number of requests that it has served. A hook may take fewer arguments than the table shows.

      | hook | in | when |
      |---|---|---|
      | `before_fork { \\|worker\\| }` | master | before a worker is forked; `pid` is nil |
      | `after_worker_fork { \\|worker\\| }` | master | after a worker is forked |
      | `after_fork { \\|worker\\| }` | worker | after the fork; with `preload false`, before loading the application |
      | `after_worker_ready { \\|worker\\| }` | worker | after the application is loaded, before the first request |
      | `before_thread_start { }` | worker | in each thread that serves, before its first request |
      | `before_thread_exit { }` | worker | in each thread that serves, after its last request; not after INT |
      | `before_worker_drain { \\|worker\\| }` | worker | the worker has been told to end; in a thread of its own |
      | `before_worker_exit { \\|worker\\| }` | worker | the worker has served its last request |
      | `after_worker_exit { \\|worker, status\\| }` | master | the worker has ended; `status` is a Process::Status |
      | `on_booted { }` | master | the workers are ready for the first time |
      | `after_stopped { }` | master | the last worker has ended |
      | `on_error { \\|exception, env\\| }` | worker | the application has raised, in `call` or in the body |
      | `out_of_band { \\|worker\\| }` | worker | between requests, after every `max_gc_per_request` requests |

      The master forks the workers. With `preload`, it also loads the application. A deploy starts a new master. Each
      master runs `on_booted`, and `after_stopped` before it exits. While a master runs a hook, it does nothing else,
      and a stop waits for the hook. But a stop interrupts `before_fork` if no worker serves yet. With
      `max_workers 0` there are no forks and no workers. Then only `on_booted`, `before_worker_drain`, `after_stopped`,
      `on_error`, `out_of_band` and the hooks of threads run.

      `before_worker_drain` runs while the requests are finished. The process waits for the end of the hook, for
      `hijack_timeout` at most. INT does not wait, and does not run the hook.

      If `before_fork`, `after_fork` or `after_worker_ready` raises, that worker does not start. If no worker can start
      when the server starts, the exit status is 1. If any other hook raises, the exception is logged and has no other
      effect. If `before_thread_start` kills its thread, the log says so, and another thread serves. But if `on_error`
      or `out_of_band` raises a `NoMemoryError` or a `SignalException`, the worker is replaced, as if the application
      had raised it.

      If no part of a response was sent, the value of `on_error` is the response. A String is the text of a 500, or of a
      504 after `Bontebok::RequestTimeout`. An Array is sent as if the application had returned it; if it cannot be
      sent, the log says so. For any other value, the client gets the same response as without the hook.

      An out-of-band run calls `out_of_band`, and then collects garbage if `oob_gc` is on. If there are other workers,
      no client waits for the run: the kernel gives new connections to the other workers, and requests on kept-alive
      connections are passed on to them. At most half of the workers are out of band at the same time. A run begins
      when no thread of the worker has a request. If some thread always has a request, the run begins after ten times
      `max_gc_per_request` requests, while other threads serve requests.
    TEXT
  end
end
