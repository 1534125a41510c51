# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # The process as the system sees it.
    module Around
      include OptionValues

      TITLE = "Around the process"

      OPTIONS = [
        Option.new("Directory", FILE, nil,
                   "Directory to change to before anything else: where relative names of files begin. In the " \
                   "configuration file: those of all its lines; its own code is there from that line on.",
                   section: TITLE, default_text: "the directory of the start"),
        Option.new("User", ACCOUNT, nil,
                   "Whom the application runs as, a name or a number. The server is started by root then: it binds, " \
                   "the supervisor stays root, masters become this user before they load anything. HOME, USER and " \
                   "LOGNAME are set as well.",
                   section: TITLE, default_text: "who starts the server"),
        Option.new("Group", ACCOUNT, nil,
                   "The group beside User, a name or a number.",
                   section: TITLE, default_text: "User's own"),
        Option.new("Umask", OptionTypes::FileMode.new, nil,
                   "Rights that new files do not get, those of the logs and of the application: 0027. SocketMode is " \
                   "not affected.",
                   section: TITLE, default_text: "as it is"),
        Option.new("Tag", TAG, nil,
                   "What the titles of workers end with, to tell servers on one machine apart.",
                   section: TITLE, default_text: "name of the working directory"),
        Option.new("Pidfile", PATH, nil,
                   "File for the number of the process that was started, removed at its end. Where another server " \
                   "that lives has written its own, the start fails.",
                   section: TITLE),
        Option.new("RestartFile", FILE, nil,
                   "File whose change has the application loaded anew: a new master and its workers take the place " \
                   "of the old ones, which serve until all of the new ones are ready. It is looked at every 2 s, " \
                   "and not with MaxWorkers 0.",
                   section: TITLE)
      ].freeze
    end
  end
end
