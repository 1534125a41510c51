# frozen_string_literal: true

require_relative "exceptions"
require_relative "ruby_tree"

module Lint
  # Reports classes and modules of lib/ that have one name in different modules. A name means one thing. Nobody else can
  # name a private constant, so it may have any name.
  class Namesakes
    OTHER_SERVERS = "a configuration file for that server names it"
    OF_OWN_DIRECTORY = "its directory says which: a type of option, or a form of the status"
    EXCEPTION = "an exception, and the class around says what has failed"

    # { full names => reason }
    LISTED = {
      "Bontebok Rack::Handler::Bontebok Rackup::Handler::Bontebok" => "Rack finds a handler by the server's name",
      "Rack::Handler Rackup::Handler" => "modules of two gems",
      "Bontebok::AdoptedSockets::Entry Bontebok::ConfigFile::Entry" => "a line of what the class around reads",
      "Bontebok::ConfigStyles::Puma Bontebok::Status::Puma" => "what of Puma, its directory says",
      "Bontebok::ConfigStyles::UnicornObjects::Worker Bontebok::Hooks::Worker Bontebok::Worker" => OTHER_SERVERS,
      "Bontebok::AppLoader::Failed Bontebok::Hooks::Failed Bontebok::ReadinessCheck::Failed" => EXCEPTION,
      "Bontebok::ControlMessage::Invalid Bontebok::OptionTypes::Invalid" => EXCEPTION,
      "Bontebok::OptionTypes::Text Bontebok::Status::Text" => OF_OWN_DIRECTORY
    }.freeze

    def initialize(root, listed: LISTED)
      @tree = RubyTree.new(root)
      @listed = listed
    end

    def faults
      Exceptions.faults(found, @listed)
    end

    private

    def found
      @tree.made.group_by { |full| full[/\w+\z/] }.select { |_, all| all.size > 1 }
           .to_h { |name, all| [all.sort.join(" "), "#{name} has several meanings: #{all.sort.join(" ")}"] }
    end
  end
end
