# frozen_string_literal: true

require_relative "../sockets/control/control_message"

module Bontebok
  # What users tell a server: commands of the control socket (`bontebok deploy`, `bontebok status` and so on), signals,
  # and changes of the restart file. This table has the block that obeys each of them. Supervisor and SingleProcess fill
  # it with their rows; the rows that they share come from Control, Stop and HangUp.
  #
  # Exit statuses of commands: 0 done, 1 failed, 2 wrong request, 3 busy with another deploy.
  class Commands
    BUSY = 3
    # Commands that only a server with workers obeys.
    FOR_WORKERS = %w[restart-workers rollback workers].freeze

    def initialize(log)
      @log = log
      @orders = {}
      @answers = {}
    end

    # The block gets the name of the signal, or the event.
    def on(*events, &order) = events.each { |event| @orders[event] = order }

    # The block gets the request (a Hash) and its ControlClient, which it must finish, now or later.
    def answer(*names, &block) = names.each { |name| @answers[name] = block }

    # The answer of a server without workers.
    def refuse(client, what)
      client.finish(1, "#{what} needs workers: this server has one process (-w 0)")
    end

    # loop: the Loop that takes the signals and events.
    def connect(loop)
      @orders.each { |event, order| loop.on(event, &order) }
    end

    # Acts as if the signal or event had come. reason: the name that the block gets.
    def give(event, reason = event) = @orders[event]&.call(reason)

    # Never raises an exception, because the process must not end.
    def obey(request, client)
      name = request["command"]
      return @answers.fetch(name).call(request, client) if @answers.key?(name)
      return refuse(client, "the command #{name}") if FOR_WORKERS.include?(name)

      client.finish(2, "unknown command #{name.inspect}")
    rescue ControlMessage::Invalid => e
      client.finish(2, e.message)
    rescue StandardError => e
      @log.error("the command #{name} has failed", e)
      client.finish(1, e.message)
    end
  end
end
