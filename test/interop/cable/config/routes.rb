# frozen_string_literal: true

Rails.application.routes.draw do
  root "pages#show"
  resources :broadcasts, only: %i[create]
  get "download" => "downloads#show"
  get "events" => "events#numbers"
  get "turbo_events" => "events#turbo_streams"
  get "up" => "rails/health#show"
end
