# frozen_string_literal: true

require_relative "../config/address"
require_relative "../config/defaults"
require_relative "../sockets/listener"
require_relative "../system/clock"
require_relative "../system/terminal"
require_relative "../version"

module Bontebok
  # The first lines of the log. They are written after all checks have passed, so a failed start logs only the error.
  module StartLines
    SOMAXCONN = "/proc/sys/net/core/somaxconn"

    class << self
      def write(log, config, listeners)
        log.info("bontebok #{VERSION}, ruby #{RUBY_VERSION}, #{config[:environment]}: #{size(config)}")
        config.warnings.each { |warning| log.warn(warning) }
        listeners.each { |listener| log.info("listening on #{listener}#{origin(listener)}") }
        warn_of_backlog(log, config[:backlog]) if config.chosen?(:backlog) || !listeners.all?(&:origin)
      end

      # began: the time of the start, by Clock.now.
      def write_ready(log, config, listeners, began)
        log.info("ready in #{((Clock.now - began) * 1000).round} ms")
        invite(log, listeners) if config.interactive?
      end

      private

      # A terminal makes a link of the URL.
      def invite(log, listeners)
        hint = "Ctrl-C stops the server" if Terminal.here?
        first = listeners.find(&:ip_address) or return (log.info(hint) if hint)
        log.info("open #{url(first)}#{" (#{hint})" if hint}")
      end

      # 0.0.0.0 and [::] are no addresses to connect to on every system. [::] accepts IPv4, too.
      def url(listener)
        ip = Listener::WILDCARDS.include?(listener.ip_address) ? "127.0.0.1" : listener.ip_address
        "http://#{Address.text(ip, listener.server_port)}"
      end

      def origin(listener)
        ", adopted from #{listener.origin}" if listener.origin
      end

      # If backlog is above net.core.somaxconn, the kernel uses the lower limit and logs nothing.
      def warn_of_backlog(log, backlog)
        limit = File.read(SOMAXCONN).to_i
        log.warn("backlog #{backlog} is above net.core.somaxconn: #{limit} holds") if backlog > limit
      rescue SystemCallError
        nil
      end

      def size(config)
        threads = count(config[:threads], "thread")
        threads += " (#{Defaults::RAILS})" if config.source(:threads) == Defaults::RAILS
        return "one process, #{threads}" if config.workers.zero?

        "#{'1 to ' if config.auto_workers? && config.workers > 1}#{count(config.workers, 'worker')} of #{threads}"
      end

      def count(number, noun)
        "#{number} #{noun}#{'s' unless number == 1}"
      end
    end
  end
end
