# frozen_string_literal: true

require "json"

require_relative "passed_variable"
require_relative "adopted_listener"
require_relative "adopted_sockets"
require_relative "shared_unix_listener"
require_relative "tcp_listener"

module Bontebok
  # The listeners that a process passes to a process that it executes, or that the supervisor passes to an executed
  # master: a list of descriptions (values of JSON), and a list of sockets in the same order.
  module PassedListeners
    # The environment variable for a process that is executed in place: the descriptions as JSON, with descriptors.
    VARIABLE = "BONTEBOK_LISTENERS"
    # The types of the values in a description.
    TYPES = { "address" => [String], "origin" => [String, nil], "file" => [Array, nil],
              "fd" => [PassedVariable::DESCRIPTORS] }.freeze

    class << self
      # Returns the value of VARIABLE. The process keeps copies of the sockets open until it executes the next one. From
      # now on, a close of the listeners does not remove the files of unix sockets.
      def keep(listeners)
        copies = listeners.map { |listener| release(listener.socket.dup.tap { |copy| copy.close_on_exec = false }) }
        listeners.each(&:give_away)
        JSON.generate(describe(listeners).zip(copies).map { |description, copy| { **description, fd: copy } })
      end

      # The numbers of the descriptors that .inherit will take from this environment. Raises UsageError.
      def numbers(env)
        read(env.slice(VARIABLE)) { |descriptions| descriptions.map { |description| description["fd"] } }
      end

      # Returns the listeners that the former program has kept. Removes the variable from env. Raises StartError.
      def inherit(env)
        read(env) { |descriptions| take(descriptions, descriptions.map { |one| Socket.for_fd(one["fd"]) }) }
          .each(&:take_over)
      end

      def describe(listeners)
        listeners.map do |listener|
          { address: listener.address.to_s, origin: listener.origin, file: listener.file, shared: listener.shared? }
        end
      end

      # The descriptions with the numbers of the descriptors.
      def number(listeners)
        describe(listeners).zip(listeners.map(&:socket)).map { |one, socket| { **one, fd: socket.fileno } }
      end

      # Returns the listeners. They own the sockets. Raises StartError if a description is not understood.
      def take(descriptions, sockets)
        descriptions.zip(sockets).map do |description, socket|
          take_one(*description.values_at("address", "origin", "file", "shared"), own(socket))
        end
      end

      # Raises TypeError.
      def check(descriptions)
        Array.try_convert(descriptions) or raise TypeError, "no list"
        descriptions.each { |description| PassedVariable.checked(description, TYPES) }
      end

      # The socket of an IO object that a message has brought: these objects are of any class.
      def own(io)
        Socket.for_fd(release(io)).tap { |socket| socket.close_on_exec = true }
      end

      private

      # Returns the block's result for the descriptions. Raises UsageError.
      def read(env)
        PassedVariable.read(env, VARIABLE, "the listeners of a former server") do |text|
          yield check(PassedVariable.json(text))
        rescue OptionTypes::Invalid => e # an address
          raise ArgumentError, e.message
        end || []
      end

      def take_one(address, origin, file, shared, socket)
        return AdoptedListener.new(AdoptedSockets::Entry.new(release(socket), origin), backlog: nil) if origin

        address = Address.restore(address)
        unless address.unix?
          return TcpListener.new(address, socket.local_address, backlog: nil, reuse_port: shared).inherit(socket)
        end

        kind = shared ? SharedUnixListener : UnixListener
        kind.new(address, backlog: nil, access: nil).inherit(socket, file)
      end

      def release(io)
        io.autoclose = false
        io.fileno
      end
    end
  end
end
