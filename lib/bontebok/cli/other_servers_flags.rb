# frozen_string_literal: true

module Bontebok
  # What to type instead of a flag that only other servers have, or of a mistyped one. Used by CommandLine. The flags of
  # other servers that mean an option here are CommandLine::FOREIGN.
  module OtherServersFlags
    FOREGROUND = "the server stays in the foreground; a service manager runs it in the background, restarts it and " \
                 "keeps its log: docs/DEPLOYMENT.md shows it with systemd"

    # Flags that mean nothing here, and why.
    NEEDLESS = { %w[-d -D --daemon --daemonize --daemonize-noclose] => FOREGROUND,
                 %w[--idle-timeout] => "the server runs until it is stopped",
                 %w[--restart-cmd] => "`bontebok deploy` executes the command of the start again",
                 %w[--control-token] => "only the server's user and root may connect to the socket of --control FILE",
                 %w[-f --fork-worker] => "with --preload, all workers share the memory of the application",
                 %w[--prune-bundler --extra-runtime-dependencies] => "`bontebok deploy` loads the new gems",
                 %w[--redirect-append --no-redirect-append] => "the server always appends to --stdout FILE and " \
                                                               "--log FILE",
                 %w[-N --no-default-middleware] => "the server adds no middleware",
                 %w[--bind-to-activated-sockets] => "the server always uses the sockets that systemd passes to it",
                 %w[--plugin] => "plugins of puma are not loaded; instead of tmp_restart, set --restart-file " \
                                 "tmp/restart.txt" }
               .flat_map { |flags, reason| flags.map { |flag| [flag, reason] } }.to_h.freeze

    # Flags for which the most similar option would be another one.
    ELSEWHERE = { "-o" => "-l HOST:PORT", "--host" => "-l HOST:PORT", "--address" => "-l HOST:PORT",
                  "--socket" => "-l unix:FILE", "-www" => "--public DIR", "--redirect-stdout" => "--stdout FILE",
                  "--redirect-stderr" => "--log FILE", "--log-file" => "--log FILE",
                  "--log-requests" => "--access-log -", "--silent" => "--log-level error", "-s" => "--log-level error",
                  "--control-url" => "--control FILE", "--stats" => "bontebok status",
                  "--timeout" => "--request-timeout", "--deploy-timeout" => "--worker-boot-timeout",
                  "--max-requests" => "--max-request-per-child", "--max-threads" => "--threads",
                  "--servers" => "--workers", "--no-config" => "-c #{File::NULL}", "--dir" => "--directory",
                  "--chdir" => "--directory", "--env" => "--environment", "--group" => "--user USER:GROUP",
                  "-R" => "--rackup FILE", "-I" => "RUBYLIB=DIR bontebok", "--include" => "RUBYLIB=DIR bontebok",
                  "-r" => "RUBYOPT=-rLIBRARY bontebok", "--require" => "RUBYOPT=-rLIBRARY bontebok",
                  "--warn" => "RUBYOPT=-w bontebok", "--debug" => "RUBYOPT=-d bontebok" }.freeze

    # known: all valid names. The message suggests the most similar name.
    def self.answer(name, known)
      return "#{name}: #{NEEDLESS.fetch(name)}" if NEEDLESS.key?(name)

      name = name.scrub
      near = ELSEWHERE[name]
      near ||= DidYouMean::SpellChecker.new(dictionary: known).correct(name).first if defined?(DidYouMean)
      "unknown option #{name}. #{near ? "Did you mean #{near}?" : 'See bontebok --help.'}"
    end
  end
end
